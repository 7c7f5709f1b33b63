"""PromQL with Grafana's macros and variables in it."""

import pytest

from generator.lint.promql import Frame, Matcher, Selector, parse
from generator.lint.variable_query import parse_variable_query


def only(text: str) -> Selector:
    parsed = parse(text)
    assert parsed.error == ""
    (selector,) = parsed.selectors
    return selector


@pytest.mark.parametrize(
    "text",
    [
        "rate(a_total[$__rate_interval])",
        "rate(a_total[${__rate_interval}])",
        "increase(a_total[$__range]) / $__range_s",
        "a[$__interval] offset $__interval",
        "max_over_time(a[$__range:$__interval])",
        "a * $__interval_ms + ${__from:date:seconds} - $__to",
        "rate(a_total[${window}])",
        "rate(a_total[[[window]]])",
        "rate(a_total[${minutes}m])",
        "a offset ${days}d",
        "a offset -$shift",
        'a{job=~"$job", instance=~"${instance:regex}", x="[[x]]"}',
        "topk($n, a)",
        "quantile($q, a) > $limit",
        "$metric{job='x'}",
        "${metric}_total + ${metric}_sum",
        "$function(a[5m])",
        "$aggregation by (x) (a)",
        "sum by ($label) (a)",
        'label_replace(a, "x", "$1", "y", "(.*)")',
        'count_values("step", a)',
        "a{b=~`\\d+`}",
        "a # a comment with a quote ' in it\n + b",
        'a{b="\\"quoted\\" $x"}',
        "limitk(2, a)",
        "a @ end()",
    ],
)
def test_what_grafana_accepts_parses(text: str) -> None:
    assert parse(text).error == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the query is empty"),
        ("  \n", "the query is empty"),
        ("sum(a", "unclosed left parenthesis"),
        ("rate(a)", "expected type matrix in call to function 'rate', got vector"),
        ("rate(a[$__rate_intervall])", "Grafana has no macro $__rate_intervall"),
        ('a{b="unclosed}', "unterminated quoted string"),
    ],
)
def test_what_is_wrong_is_said_in_words(text: str, error: str) -> None:
    parsed = parse(text)
    assert error in parsed.error
    assert parsed.selectors == ()


def test_errors_speak_of_the_variable_not_of_its_stand_in() -> None:
    assert "zz_grafana" not in parse("$nosuch(a, b, c, d").error


def test_a_selector_is_given_as_it_was_written() -> None:
    selector = only('sum by (job, $label) (rate(a_total{job=~"$job", x!="1"}[$__rate_interval]))')
    assert selector.name == "a_total"
    assert selector.matchers == (Matcher("job", "=~", "$job"), Matcher("x", "!=", "1"))
    assert selector.frames == (
        Frame("range", "$__rate_interval"),
        Frame("call", "rate"),
        Frame("aggregate", "sum", ("job", "$label")),
    )


@pytest.mark.parametrize("window", ["$__rate_interval", "${__interval}", "$window", "5m", "1h30m", "500ms"])
def test_a_window_is_given_as_it_was_written(window: str) -> None:
    assert only(f"rate(a_total[{window}])").frames[0] == Frame("range", window)


def test_a_name_may_be_chosen_in_four_ways() -> None:
    assert only('{__name__="a", x="1"}').name == "a"
    assert only('{"a.b"}').name == "a.b"
    assert only('{__name__=~"a.*"}').pattern == "a.*"
    assert only("${kind}_total").name == "${kind}_total"


def test_without_keeps_no_list_of_labels() -> None:
    assert only("sum without (x) (a)").frames == (Frame("aggregate", "sum", None),)


@pytest.mark.parametrize(
    "text", ["(" * 20_000 + "a" + ")" * 20_000, "-" * 20_000 + "a", "+".join(["a"] * 20_000), "abs(" * 20_000]
)
def test_nesting_that_would_end_the_process_is_refused(text: str) -> None:
    assert "more than 500 operators" in parse(text).error


def test_a_long_list_of_matchers_is_no_nesting() -> None:
    matchers = ", ".join(f'l{number}=~"(a|b)+-*/"' for number in range(2000))
    assert parse(f"a{{{matchers}}}").error == ""


@pytest.mark.parametrize(
    ("text", "kind", "expr", "label"),
    [
        ("label_values(up, job)", "label_values", "up", "job"),
        ('label_values(up{a="b,c"}, job)', "label_values", 'up{a="b,c"}', "job"),
        ("label_values(job)", "label_values", "", "job"),
        ("label_values(up, $label)", "label_values", "up", "$label"),
        ("label_names()", "label_names", "", ""),
        ("metrics(a.*)", "metrics", "", ""),
        ("query_result(topk(3, up))", "query_result", "topk(3, up)", ""),
        ('up{job="x"}', "series", 'up{job="x"}', ""),
    ],
)
def test_queries_of_variables(text: str, kind: str, expr: str, label: str) -> None:
    read = parse_variable_query(text)
    assert (read.kind, read.expr, read.label, read.error) == (kind, expr, label, "")


@pytest.mark.parametrize("text", ["label_value(up, job)", "label_values()", "sum(up)", "label_values(up, job"])
def test_wrong_queries_of_variables(text: str) -> None:
    assert parse_variable_query(text).error
