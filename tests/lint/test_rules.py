"""Each rule by example: a dashboard that it blames, and one that differs in that alone and is right."""

from typing import Any

import pytest

from generator.lint import RULES
from tests.lint.boards import (
    DATASOURCE,
    board,
    findings,
    panel,
    row,
    stat,
    timeline,
    v2,
    v2_panel,
    variable,
)

FOUND_BY_EXECUTION = {"query-fails", "query-empty", "query-not-run"}
GRID = {"x": 0, "y": 0, "w": 12, "h": 8}
RUN = '{project=~"$project", experiment_name=~"$experiment_name"}'
RUN_VARIABLES = (
    variable("project", "label_values(trainer_reward, project)"),
    variable("experiment_name", 'label_values(trainer_reward{project=~"$project"}, experiment_name)'),
)
STEPS = {"steps": [{"color": "green", "value": None}, {"color": "red", "value": 5}]}
LEFT_OVER = {"steps": [{"color": "green", "value": None}, {"color": "red", "value": 80}]}


def target(**changes: Any) -> dict[str, Any]:
    return {"refId": "A", "expr": "queue_size", "legendFormat": "waiting", "datasource": DATASOURCE, **changes}


def queries(count: int) -> list[dict[str, Any]]:
    return [target(refId=f"Q{number}") for number in range(count)]


def steps(*values: Any) -> dict[str, Any]:
    return {"steps": [{"color": "red", "value": value} for value in values]}


def defaults(**values: Any) -> dict[str, Any]:
    return {"fieldConfig": {"defaults": {"unit": "short", **values}, "overrides": []}}


EXAMPLES: dict[str, tuple[Any, Any]] = {
    "json-shape": (board(panel(gridPos="here")), board(panel())),
    "dashboard-title": (board(title=" "), board()),
    "dashboard-uid": (board(uid="not a uid"), board()),
    "editable": (board(editable=True), board()),
    "datasource-variable": (board(templating={"list": []}), board()),
    "datasource": (board(panel(targets=[target(datasource={"type": "prometheus", "uid": "abc"})])), board()),
    "unknown-variable": (
        board(panel('up{job="$job"}')),
        board(panel('up{job="$job"}'), variables=(variable("job"),)),
    ),
    "unused-variable": (
        board(variables=(variable("job"),)),
        board(panel(title="Queue of $job"), variables=(variable("job"),)),
    ),
    "duplicate-variable": (
        board(panel(title="$job"), variables=(variable("job"), variable("job"))),
        board(panel(title="$job"), variables=(variable("job"),)),
    ),
    "variable-cycle": (
        board(variables=(variable("a", 'label_values(up{b="$b"}, a)'), variable("b", 'label_values(up{a="$a"}, b)'))),
        board(variables=(variable("a"), variable("b", 'label_values(up{a="$a"}, b)'))),
    ),
    "variable-query": (
        board(variables=(variable("job", "label_value(up, job)"),)),
        board(variables=(variable("job", "label_values(up, job)"),)),
    ),
    "variable-refresh": (
        board(variables=(variable("job", refresh=1),)),
        board(variables=(variable("job", refresh=2),)),
    ),
    "required-variable": (board(), board(variables=(variable("job"), variable("instance")))),
    "panel-title": (board(panel(title="")), board()),
    "panel-description": (board(panel(description="")), board()),
    "panel-unit": (board(panel(fieldConfig={"defaults": {}})), board()),
    "unknown-unit": (board(panel(**defaults(unit="tokens/s"))), board(panel(**defaults(unit="suffix: tokens/s")))),
    "panel-without-query": (board(panel(targets=[])), board(panel(targets=[], type="text"))),
    "removed-panel-type": (board(panel(type="graph")), board()),
    "thresholds-not-drawn": (
        board(panel(**defaults(thresholds=STEPS))),
        board(panel(**defaults(thresholds=STEPS, custom={"thresholdsStyle": {"mode": "line+area"}}))),
    ),
    "left-over-thresholds": (board(stat(thresholds=LEFT_OVER)), board(stat(thresholds=STEPS))),
    "thresholds-order": (board(stat(thresholds=steps(None, 9, 5))), board(stat(thresholds=steps(None, 5, 9)))),
    "legend": (board(panel(targets=[target(legendFormat="__auto")])), board()),
    "max-data-points": (board(panel(maxDataPoints=100)), board(panel(maxDataPoints=500))),
    "duplicate-panel-id": (
        board(panel(), panel(title="Other", gridPos={**GRID, "x": 12})),
        board(panel(), panel(title="Other", gridPos={**GRID, "x": 12}, id=2)),
    ),
    "duplicate-title": (
        board(panel(), panel(id=2, gridPos={**GRID, "x": 12})),
        board(panel(), row("Below", [panel(id=2)])),
    ),
    "grid-size": (board(panel(gridPos={**GRID, "x": 13})), board(panel(gridPos={**GRID, "x": 12}))),
    "grid-overlap": (
        board(panel(), panel(id=2, title="Other", gridPos={**GRID, "x": 11})),
        board(panel(), panel(id=2, title="Other", gridPos={**GRID, "x": 12})),
    ),
    "nested-row": (board(row("Outer", [row("Inner", id=98)])), board(row("Outer"), row("Inner", id=98))),
    "layout-reference": (
        v2(v2_panel(), layout={"kind": "GridLayout", "spec": {"items": []}}),
        v2(v2_panel()),
    ),
    "first-screen-queries": (
        board(panel(targets=queries(16))),
        board(panel(targets=queries(15)), row("More", [panel(id=2, targets=queries(9))])),
    ),
    "broken-panel-link": (
        board(panel(links=[{"title": "why", "url": "/d/clean?viewPanel=7&${__url_time_range}"}])),
        board(panel(links=[{"title": "why", "url": "/d/clean?viewPanel=1&${__url_time_range}"}])),
    ),
    "promql": (board(panel("sum(queue_size")), board(panel("sum(queue_size)"))),
    "query-brackets": (board(timeline('{span.a = "$__from}')), board(timeline('{span.a = "b"} | select(span.a)'))),
    "ref-id": (
        board(panel(targets=[target(), target()])),
        board(panel(targets=[target(), target(refId="B")])),
    ),
    "rate-interval": (
        board(panel("rate(requests_total[5m])")),
        board(panel("rate(requests_total[$__rate_interval])")),
    ),
    "rate-of-aggregate": (
        board(panel("rate(sum(requests_total)[$__rate_interval:])")),
        board(panel("sum(rate(requests_total[$__rate_interval]))")),
    ),
    "name-pattern-in-function": (
        board(panel('rate({__name__=~"requests.*"}[$__rate_interval])')),
        board(panel('{__name__=~"requests.*"}')),
    ),
    "histogram-le": (
        board(panel("histogram_quantile(0.9, sum by (job) (rate(latency_seconds_bucket[$__rate_interval])))")),
        board(panel("histogram_quantile(0.9, sum by (job, le) (rate(latency_seconds_bucket[$__rate_interval])))")),
    ),
    "required-label": (board(panel('queue_size{job="a"}')), board(panel('queue_size{job="a", instance="b"}'))),
    "counter-without-rate": (
        board(panel("sum(requests_total)")),
        board(panel("sum(increase(requests_total[$__range]))")),
    ),
    "gauge-under-rate": (board(panel("rate(queue_size[$__rate_interval])")), board(panel("deriv(queue_size[5m])"))),
    "unknown-metric": (board(panel("queue_sizes")), board(panel("queue_size + trainer_val_x or up"))),
    "run-filter": (
        board(panel('trainer_reward{project="$project"}'), variables=RUN_VARIABLES),
        board(panel(f"trainer_reward{RUN} or queue_size"), variables=RUN_VARIABLES),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", EXAMPLES)
def test_each_rule_blames_its_example_but_not_the_right_one(rule: str) -> None:
    wrong, right = EXAMPLES[rule]
    found = findings(wrong, rule)
    assert found, f"{rule} did not find its example"
    assert found[0].fix == RULES[rule].help
    assert findings(right, rule) == []


def test_every_rule_has_an_example() -> None:
    # Two dashboards are needed for duplicate-uid, a Prometheus for what is found by execution.
    assert set(RULES) - set(EXAMPLES) == FOUND_BY_EXECUTION | {"duplicate-uid"}


def test_a_clean_dashboard_has_no_finding() -> None:
    assert findings(board()) == []
    assert findings(v2(v2_panel())) == []


def test_ids_are_words_with_hyphens_and_texts_are_sentences() -> None:
    for rule in RULES.values():
        assert rule.id == rule.id.lower().replace(" ", "-").replace("_", "-")
        assert rule.summary[0].isupper()
        assert not rule.summary.endswith(".")
        assert rule.help.endswith(".")
        assert rule.why.endswith(".")
