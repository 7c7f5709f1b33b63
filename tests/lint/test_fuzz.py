"""Whatever the JSON: the linter says what is wrong, or that it is no dashboard, and never falls over."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.lint import FORMATS, LintInputError, lint_dashboard, render
from generator.lint.brackets import unbalanced
from generator.lint.load import decode, parse_json
from generator.lint.locate import Lines
from generator.lint.promql import parse
from generator.lint.read import read_dashboard
from generator.lint.run import Source, lint_sources
from generator.lint.substitution import Window, fill_in
from tests.lint.boards import KNOWN, board, panel, row, stat, timeline, v2, v2_panel, variable

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["row", "timeseries", "query", "$a", "${datasource}", "sum(", "{", "[[x]]", "__expr__", "\ud800"]),
)
values = st.recursive(
    leaves, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3)
)

CLASSIC = board(
    panel('sum(rate(requests_total{a=~"$a"}[5m]))', repeat="a", links=[{"url": "/d/clean?viewPanel=1"}]),
    stat(thresholds={"steps": [{"value": None}, {"value": 1}]}),
    timeline('{span.a =~ "$a"}'),
    row("Row", [panel(id=3)]),
    variables=(variable("a"), {"type": "custom", "name": "b", "query": "1,2", "options": [{"value": "1"}]}),
    annotations={"list": [{"name": "n", "expr": "up"}]},
    rows=[{"title": "Old", "panels": [{"type": "graph"}]}],
)
SECOND = v2(v2_panel(id=1), v2_panel(id=2), variables=[{"kind": "QueryVariable", "spec": {"name": "a", "query": {}}}])


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with every key in it."""
    found: list[tuple[Any, Any]] = []
    left = [document]
    while left:
        one = left.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        found += [(one, key) for key in keys]
        left += [one[key] for key in keys]
    return found


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A dashboard in which some values are replaced by anything."""
    document = json.loads(json.dumps(draw(st.sampled_from([CLASSIC, SECOND]))))
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(places(document)))
        container[key] = draw(values)
    return document


@given(spoilt())
@SETTINGS
def test_a_dashboard_spoilt_anywhere(document: Any) -> None:
    try:
        source = Source(read_dashboard(document, "x.json"))
    except LintInputError:
        return
    report = lint_sources([source], known=KNOWN)
    for format in FORMATS:
        render(report, format).encode()


@given(values | st.fixed_dictionaries({"panels": values, "templating": values, "annotations": values}))
@SETTINGS
def test_json_that_is_nothing(document: Any) -> None:
    with suppress(LintInputError):
        lint_dashboard(document, known=KNOWN)


@given(st.binary(max_size=60) | spoilt().map(lambda one: json.dumps(one).encode()[:-3]))
@SETTINGS
def test_bytes_that_are_no_json(content: bytes) -> None:
    with suppress(LintInputError):
        parse_json(decode(content))


@given(spoilt())
@SETTINGS
def test_every_value_has_a_line(document: Any) -> None:
    text = json.dumps(document, indent=1)
    lines = Lines(text)
    count = text.count("\n") + 1
    parsed = json.loads(text)
    for container, key in places(parsed)[:30]:
        assert 1 <= lines.line((key,)) <= count
        assert container is not None


WORDS = "[ ] { } ( ) $a ${b} [[c]] $__rate_interval a 5m rate offset =~ = # sum by , 1 +"
pieces = st.sampled_from([*WORDS.split(), *"\"'`\\ \n\u00e9\ud800"])


@given(st.lists(pieces, max_size=25).map("".join))
@SETTINGS
def test_any_text_as_a_query(text: str) -> None:
    parsed = parse(text)
    assert parsed.error or parsed.selectors is not None
    assert "zz_grafana" not in parsed.error
    unbalanced(text)
    with suppress(ValueError):
        fill_in(text, {"a": "x"}, Window(0.0))
