"""Rules about panels and their places, in the cases that are easily got wrong."""

from typing import Any

import pytest

from tests.lint.boards import (
    DATASOURCE,
    board,
    findings,
    panel,
    row,
    rules,
    stat,
)

GRID = {"x": 0, "y": 0, "w": 12, "h": 8}
STEPS = {"steps": [{"color": "green", "value": None}, {"color": "red", "value": 5}]}
LEFT_OVER = {"steps": [{"color": "green", "value": None}, {"color": "red", "value": 80}]}


def steps(*values: Any) -> dict[str, Any]:
    return {"steps": [{"color": "red", "value": value} for value in values]}


def queries(count: int) -> list[dict[str, Any]]:
    return [target(refId=f"Q{number}") for number in range(count)]


def target(**changes: Any) -> dict[str, Any]:
    return {"refId": "A", "expr": "queue_size", "legendFormat": "waiting", "datasource": DATASOURCE, **changes}


def defaults(**values: Any) -> dict[str, Any]:
    return {"fieldConfig": {"defaults": {"unit": "short", **values}, "overrides": []}}


@pytest.mark.parametrize(
    ("one", "drawn"),
    [
        (panel(type="gauge", **defaults(thresholds=STEPS)), True),
        (panel(type="bargauge", **defaults(thresholds=STEPS)), True),
        (panel(type="bargauge", **defaults(thresholds=STEPS, color={"mode": "continuous-GrYlRd"})), False),
        (stat(thresholds=STEPS), True),
        (stat(thresholds=STEPS) | {"options": {"colorMode": "none"}}, False),
        (stat(thresholds=STEPS, color={"mode": "fixed"}), False),
        (panel(**defaults(thresholds=STEPS, color={"mode": "thresholds"})), True),
        (panel(type="trend", **defaults(thresholds=STEPS, custom={"thresholdsStyle": {"mode": "off"}})), False),
        (panel(type="table", **defaults(thresholds=STEPS)), False),
        (panel(type="table", **defaults(thresholds=STEPS, custom={"cellOptions": {"type": "color-text"}})), True),
        (panel(type="heatmap", **defaults(thresholds=STEPS)), False),
        (panel(**defaults(thresholds=LEFT_OVER)), True),  # nobody chose these, and nobody sees them
    ],
)
def test_where_thresholds_are_drawn(one: dict[str, Any], drawn: bool) -> None:
    assert (findings(board(one), "thresholds-not-drawn") == []) is drawn


def test_an_override_may_draw_thresholds_and_give_a_unit() -> None:
    properties = [{"id": "custom.thresholdsStyle", "value": {"mode": "line"}}, {"id": "unit", "value": "s"}]
    config = {"defaults": {"thresholds": STEPS}, "overrides": [{"matcher": {"id": "byName"}, "properties": properties}]}
    assert rules(board(panel(fieldConfig=config))) == set()


@pytest.mark.parametrize("values", [("null", 1), (None, "5"), (None, None), (None, 5, 5), (None, True)])
def test_thresholds_that_are_no_rising_numbers(values: tuple[Any, ...]) -> None:
    assert len(findings(board(stat(thresholds=steps(*values))), "thresholds-order")) == 1


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"x": -1, "y": 0, "w": 4, "h": 4}, "stands at x -1, y 0"),
        ({"x": 0, "y": 0, "w": 0, "h": 4}, "is 0 wide and 4 high"),
        ({"x": 20, "y": 0, "w": 8, "h": 4}, "reaches column 28 of 24 (x 20, w 8)"),
        (None, "has no gridPos"),
    ],
)
def test_places_outside_the_grid(place: Any, message: str) -> None:
    for document in (board(panel(gridPos=place)), board(row("Row", [panel(gridPos=place)]))):
        assert [one.message for one in findings(document, "grid-size")] == [message]


def test_overlaps_are_found_inside_a_row_but_not_between_rows() -> None:
    inside = row("Row", [panel(id=2), panel(id=3, title="Other", gridPos={**GRID, "y": 4})])
    (found,) = findings(board(panel(), inside), "grid-overlap")
    assert (found.section, found.panel, found.message) == (("Row",), "Other", "overlaps the panel 'Queue'")


def test_titles_may_repeat_in_different_open_rows() -> None:
    first, second = (
        row(title, collapsed=False, id=90 + y, gridPos={"x": 0, "y": y, "w": 24, "h": 1})
        for title, y in (("One", 0), ("Two", 9))
    )
    panels = [panel(gridPos={**GRID, "y": 1}), panel(id=2, gridPos={**GRID, "y": 10})]
    assert findings(board(first, panels[0], second, panels[1]), "duplicate-title") == []


def test_queries_that_cost_nothing_are_not_counted() -> None:
    free = [
        target(refId="H", hide=True),
        {"refId": "E", "expression": "$A", "datasource": {"type": "__expr__", "uid": "__expr__"}},
        {"refId": "D", "datasource": {"type": "datasource", "uid": "-- Dashboard --"}},
    ]
    document = board(panel(targets=[*queries(15), *free]), panel(type="text", id=2, targets=queries(9)))
    assert findings(document, "first-screen-queries") == []


def test_panels_with_words_need_no_unit() -> None:
    mapped = stat(unit="", mappings=[{"type": "value", "options": {"1": {"text": "up"}}}])
    named = panel(type="stat", fieldConfig={}, options={"textMode": "name"})
    assert findings(board(mapped, named), "panel-unit") == []
