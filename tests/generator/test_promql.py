"""The query helpers: what they write is what Prometheus should be asked."""

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.promql import Scope, either, or_zero, ratio

RUN = Scope((("project", "project"), ("experiment_name", "experiment_name")))
FILTER = 'project=~"$project", experiment_name=~"$experiment_name"'


def parses(expr: str) -> None:
    promql_parser.parse(expr.replace("$__rate_interval", "1m").replace("$__range", "1h"))


def test_select_filters_by_the_run_and_adds_matchers() -> None:
    assert RUN.select("up") == f"up{{{FILTER}}}"
    assert RUN.select("up", 'job="vllm"') == f'up{{{FILTER}, job="vllm"}}'
    assert Scope().select("up") == "up"


def test_rate_looks_back_over_grafanas_interval() -> None:
    assert Scope().rate("a_total") == "rate(a_total[$__rate_interval])"
    assert Scope().over_range().rate("a_total") == "rate(a_total[$__range])"


def test_level_is_bare_on_a_graph_and_a_mean_over_the_range() -> None:
    assert Scope().level("sum(a)") == "sum(a)"
    assert Scope().over_range().level("sum(a)") == "avg_over_time((sum(a))[$__range:])"


def test_aggregations_keep_the_run() -> None:
    assert RUN.sum("a", "replica") == "sum by (project, experiment_name, replica) (a)"
    assert RUN.top(3, "a") == "topk by (project, experiment_name) (3, a)"
    assert Scope().max("a") == "max(a)"


def test_a_quantile_keeps_le_and_reads_the_buckets() -> None:
    assert Scope().quantile(0.99, "t_seconds", by=("replica",)) == (
        "(histogram_quantile(0.99, sum by (replica, le) (rate(t_seconds_bucket[$__rate_interval]))) >= 0)"
    )


def test_the_new_name_stands_before_the_old_and_both_are_filtered() -> None:
    assert RUN.select(("new", "old")) == f"(new{{{FILTER}}} or old{{{FILTER}}})"
    assert Scope().sum(Scope().rate(("new_total", "old_total"))) == (
        "sum(rate(new_total[$__rate_interval]) or rate(old_total[$__rate_interval]))"
    )
    assert either("a") == "a"


def test_a_ratio_has_no_value_where_the_whole_is_zero(history) -> None:  # type: ignore[no-untyped-def]
    assert history.server.query(ratio("vector(1)", "vector(0)"), history.END) == []
    assert history.server.query(ratio("vector(1)", "vector(4)"), history.END)[0]["value"][1] == "0.25"


def test_what_observed_nothing_has_no_quantile_rather_than_nan(history) -> None:  # type: ignore[no-untyped-def]
    quantile = Scope().quantile(0.99, "vllm:request_queue_time_seconds", by=("instance",))
    working = quantile.replace("$__rate_interval", "1m")
    assert history.server.query(working, history.END)
    idle = working.replace("rate(", "0 * rate(")
    assert history.server.query(idle, history.END) == []


def test_absence_counts_as_zero(history) -> None:  # type: ignore[no-untyped-def]
    answer = history.server.query(or_zero('count(up{job="no such job"} == 0)'), history.END)
    assert answer[0]["value"][1] == "0"


NAMES = st.from_regex(r"[a-z][a-z_:]{0,12}", fullmatch=True)


@given(
    names=st.one_of(NAMES, st.lists(NAMES, min_size=1, max_size=3).map(tuple)),
    by=st.lists(st.sampled_from(["replica", "engine", "reason"]), unique=True),
    scope=st.sampled_from([RUN, Scope(), RUN.over_range()]),
    q=st.floats(0, 1),
)
def test_whatever_is_asked_parses(names: str, by: list[str], scope: Scope, q: float) -> None:
    for expr in (
        scope.select(names, 'job="x"'),
        scope.level(scope.select(names)),
        scope.sum(scope.rate(names), *by),
        scope.median(scope.increase(names), *by),
        scope.bottom(2, scope.level(scope.select(names)), *by),
        scope.quantile(q, names, by=by),
        scope.mean(names, by=by),
        scope.buckets(names, by=by),
        ratio(scope.sum(scope.rate(names)), scope.count(scope.rate(names))),
        or_zero(scope.count(scope.select(names))),
    ):
        parses(expr)


@pytest.mark.parametrize("expr", ["(a) or (b)", "(a or b)", "((a))", "a"])
def test_parentheses_are_only_taken_off_in_pairs(expr: str) -> None:
    parses(Scope().sum(expr))
