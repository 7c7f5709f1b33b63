"""Rules about variables and data sources, in the cases that are easily got wrong."""

from typing import Any

import pytest

from tests.lint.boards import (
    DATASOURCE,
    DATASOURCE_VARIABLE,
    board,
    findings,
    panel,
    row,
    rules,
    timeline,
    variable,
)

EXPRESSION = {"type": "__expr__", "uid": "__expr__"}


def target(**changes: Any) -> dict[str, Any]:
    return {"refId": "A", "expr": "queue_size", "legendFormat": "waiting", "datasource": DATASOURCE, **changes}


def defaults(**values: Any) -> dict[str, Any]:
    return {"fieldConfig": {"defaults": {"unit": "short", **values}, "overrides": []}}


@pytest.mark.parametrize(
    "document",
    [
        board(panel(title="$gone")),
        board(panel(description="as ${gone} says")),
        board(panel(repeat="gone")),
        board(panel(links=[{"title": "x", "url": "/d/other?var-a=$gone"}])),
        board(panel(datasource={"type": "prometheus", "uid": "$gone"})),
        board(panel(targets=[target(legendFormat="{{a}} $gone")])),
        board(panel(**defaults(links=[{"title": "x", "url": "/d/other?a=${gone:queryparam}"}]))),
        board(row("Row of [[gone]]")),
        board(row(repeat="gone")),
        board(links=[{"title": "x", "url": "https://example.org/$gone"}]),
        board(variables=(variable("job", 'label_values(up{a="$gone"}, job)'),)),
        board(annotations={"list": [{"name": "steps", "expr": 'up{a="$gone"}', "datasource": DATASOURCE}]}),
        board(timeline('{span.a =~ "$gone"}')),
    ],
)
def test_an_unknown_variable_is_found_wherever_it_is_used(document: Any) -> None:
    assert [one.message.split(" uses ")[1] for one in findings(document, "unknown-variable")] == [
        "$gone, which is not defined"
    ]


@pytest.mark.parametrize(
    "document",
    [
        board(panel('label_replace(queue_size, "a", "$1", "b", "(.*)")')),
        board(panel('label_replace(queue_size, "a", "$name", "b", "(?P<name>.*)")')),
        board(panel('queue_size{a=~"^x$|^y$"}')),
        board(panel(description="costs $five")),
        board(panel(targets=[target(), {"refId": "B", "expression": "$A * 2", "datasource": EXPRESSION}])),
        board(panel(**defaults(displayName="${__field.labels.job}"))),
        board(panel("queue_size[$__range] or vector($__from)")),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_variable_is_none(document: Any) -> None:
    assert findings(document, "unknown-variable") == []


def test_a_variable_may_be_used_by_repeat_by_another_variable_or_by_nobody_at_all() -> None:
    used = board(
        panel(repeat="a"),
        row(repeat="b"),
        variables=(variable("a"), variable("b"), variable("c"), variable("d", 'label_values(up{c="$c"}, d)')),
    )
    assert [one.message for one in findings(used, "unused-variable")] == ["nothing uses $d"]
    assert findings(board(variables=({"type": "adhoc", "name": "filters"},)), "unused-variable") == []


def test_a_variable_that_refers_to_itself_is_a_cycle() -> None:
    document = board(variables=(variable("a", 'label_values(up{a="$a"}, a)'),))
    (found,) = findings(document, "variable-cycle")
    assert found.message == "the variables depend on each other: $a → $a"


def test_a_circle_is_reported_once_and_in_its_order() -> None:
    def after(name: str, needed: str) -> dict[str, Any]:
        return variable(name, f'label_values(up{{x="${needed}"}}, {name})')

    document = board(variables=(after("a", "b"), after("b", "c"), after("c", "a"), after("d", "a")))
    (found,) = findings(document, "variable-cycle")
    assert found.message == "the variables depend on each other: $a → $b → $c → $a"


def test_an_input_of_a_shared_dashboard_is_no_data_source_variable() -> None:
    one = panel(datasource="${DS_PROMETHEUS}", targets=[{"refId": "A", "expr": "up", "legendFormat": "x"}])
    document = board(one, __inputs=[{"name": "DS_PROMETHEUS", "type": "datasource"}])
    assert rules(document) == {"datasource", "unused-variable"}


def test_one_dashboard_variable_does_for_one_plugin() -> None:
    document = board(timeline("{}"), templating={"list": [DATASOURCE_VARIABLE]})
    assert [one.message for one in findings(document, "datasource-variable")] == [
        "no variable chooses the tempo data source"
    ]
