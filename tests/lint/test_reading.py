"""The shapes in which dashboards come."""

from typing import Any

import pytest

from generator.lint import LintInputError
from generator.lint.read import read_dashboard
from tests.lint.boards import DATASOURCE, board, findings, panel, row, rules, v2, v2_item, v2_panel


def test_a_dashboard_may_be_wrapped_as_the_api_wraps_it() -> None:
    bad = board(title="")
    for document in (bad, {"dashboard": bad}, {"dashboard": bad, "meta": {"slug": "x"}, "overwrite": True}):
        assert rules(document) == {"dashboard-title"}


def test_a_finding_in_a_wrapped_dashboard_says_where() -> None:
    (found,) = findings({"dashboard": board(panel("sum("))}, "promql")
    assert found.path == ("dashboard", "panels", 0, "targets", 0, "expr")


def test_a_resource_may_hold_the_classic_schema() -> None:
    spec = board()
    del spec["uid"]
    resource = {"apiVersion": "dashboard.grafana.app/v1beta1", "metadata": {"name": "mine"}, "spec": spec}
    assert read_dashboard(resource).uid == "mine"
    assert findings(resource) == []


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "holds a list; a dashboard is a JSON object"),
        ("x", "holds a text"),
        (None, "holds null"),
        (3, "holds a number"),
        ({}, "is no Grafana dashboard"),
        ({"name": "x", "version": "1"}, "is no Grafana dashboard"),
        ({"dashboard": {}}, "is no Grafana dashboard"),
        ({"dashboard": {"dashboard": board()}}, "is no Grafana dashboard"),
        ({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}, "is a resource of apps/v1"),
        (v2(v2_panel())["spec"], "is the spec of a v2 dashboard alone"),
    ],
)
def test_what_is_no_dashboard(document: Any, sentence: str) -> None:
    with pytest.raises(LintInputError, match=sentence):
        read_dashboard(document)


def test_panels_are_found_in_open_rows_collapsed_rows_and_old_rows() -> None:
    opened = row("Open", collapsed=False, gridPos={"x": 0, "y": 0, "w": 24, "h": 1})
    below = panel(gridPos={"x": 0, "y": 1, "w": 24, "h": 8})
    shut = row("Shut", [panel(id=2)], gridPos={"x": 0, "y": 9, "w": 24, "h": 1}, id=98)
    old = {"title": "Old", "collapse": False, "panels": [{"type": "graph", "title": "G", "span": 6}]}
    read = read_dashboard(board(opened, below, shut, rows=[old]))
    assert [(one.section, one.visible) for one in read.panels] == [
        (("Old",), True),
        (("Open",), True),
        (("Shut",), False),
    ]


def test_rows_belong_to_panels_by_place_not_by_order_in_the_file() -> None:
    opened = row("Open", collapsed=False, gridPos={"x": 0, "y": 20, "w": 24, "h": 1})
    above = panel(gridPos={"x": 0, "y": 0, "w": 24, "h": 8})
    assert read_dashboard(board(opened, above)).panels[0].section == ()


@pytest.mark.parametrize("depth", [3, 10_000])
def test_rows_within_rows_within_rows(depth: int) -> None:
    innermost: dict[str, Any] = panel("sum(")
    for number in range(depth):
        innermost = row(f"Row {number}", [innermost], id=1000 + number)
    found = findings({**board(), "panels": [innermost]}, "nested-row")
    assert len(found) == min(depth - 1, 20)
    if depth == 3:
        assert len(findings({**board(), "panels": [innermost]}, "promql")) == 1
    else:
        # What is deeper is not read, but said.
        shapes = findings({**board(), "panels": [innermost]}, "json-shape")
        assert "rows nested at most 20 deep" in shapes[0].message


@pytest.mark.parametrize("depth", [3, 5_000])
def test_layouts_within_layouts(depth: int) -> None:
    layout: dict[str, Any] = {"kind": "GridLayout", "spec": {"items": [v2_item("panel-1")]}}
    for number in range(depth):
        rows = [{"kind": "RowsLayoutRow", "spec": {"title": f"{number}", "collapse": False, "layout": layout}}]
        layout = {"kind": "RowsLayout", "spec": {"rows": rows}}
    shapes = findings(v2(v2_panel(), layout=layout), "json-shape")
    assert bool(shapes) is (depth > 20)


@pytest.mark.parametrize(
    "change",
    [
        {"panels": "none"},
        {"panels": {"a": 1}},
        {"panels": [None, 3, "x", []]},
        {"panels": [panel(targets="none")]},
        {"panels": [panel(gridPos=[1, 2])]},
        {"panels": [panel(fieldConfig="none")]},
        {"panels": [panel(fieldConfig={"defaults": {"thresholds": {"steps": {"value": 1}}}})]},
        {"panels": [panel(id="one")]},
        {"panels": [panel(title=5)]},
        {"panels": [panel(datasource=True)]},
        {"templating": []},
        {"templating": {"list": "none"}},
        {"templating": {"list": [{"type": "query", "name": 5}]}},
        {"annotations": "none"},
        {"title": {}},
        {"uid": 5},
        {"links": [1]},
    ],
)
def test_a_field_of_the_wrong_type_is_a_finding_and_no_accident(change: dict[str, Any]) -> None:
    found = findings({**board(), **change}, "json-shape")
    assert found
    assert " should be " in found[0].message


def test_null_is_as_good_as_absent() -> None:
    one = panel(options=None, links=None, repeat=None, maxDataPoints=None, transformations=None)
    assert findings(board(one, links=None, rows=None)) == []
    assert "json-shape" not in rules({**board(), "templating": None, "annotations": None, "panels": None})


def test_the_shape_of_a_field_is_named_by_its_path() -> None:
    (found,) = findings(board(panel(targets=[{"refId": 1, "expr": "up", "datasource": DATASOURCE}])), "json-shape")
    assert found.message == "panels[0].targets[0].refId should be a text, but is a number"


def test_a_layout_of_rows_and_tabs() -> None:
    def grid(name: str) -> dict[str, Any]:
        return {"kind": "GridLayout", "spec": {"items": [v2_item(name)]}}

    rows = [
        {"kind": "RowsLayoutRow", "spec": {"title": "Shut", "collapse": True, "layout": grid("panel-1")}},
        {"kind": "RowsLayoutRow", "spec": {"title": "Open", "collapse": False, "layout": grid("panel-2")}},
    ]
    tabs = [
        {"kind": "TabsLayoutTab", "spec": {"title": "First", "layout": {"kind": "RowsLayout", "spec": {"rows": rows}}}},
        {"kind": "TabsLayoutTab", "spec": {"title": "Second", "layout": grid("panel-3")}},
    ]
    layout = {"kind": "TabsLayout", "spec": {"tabs": tabs}}
    document = v2(v2_panel(id=1), v2_panel(id=2), v2_panel(id=3), layout=layout)
    assert findings(document) == []
    assert [(one.section, one.visible) for one in read_dashboard(document).panels] == [
        (("First", "Shut"), False),
        (("First", "Open"), True),
        (("Second",), False),
    ]


def test_the_rules_see_through_the_v2_schema() -> None:
    bad = v2_panel("sum(gone_total)", datasource="prometheus", description="", title="$gone")
    found = {one.rule: one for one in findings(v2(bad))}
    expected = {"datasource", "panel-description", "unknown-metric", "counter-without-rate", "unknown-variable"}
    # Nothing is left that uses the data source variable.
    assert set(found) == expected | {"unused-variable"}
    assert found["counter-without-rate"].query == "A"


def test_v2_overlaps_and_references() -> None:
    items = [v2_item("panel-1"), v2_item("panel-2", x=6), v2_item("panel-3", y=20)]
    layout = {"kind": "GridLayout", "spec": {"items": items}}
    found = findings(v2(v2_panel(id=1), v2_panel(id=2), v2_panel(id=4), layout=layout))
    assert [(one.rule, one.message) for one in found] == [
        ("grid-overlap", "overlaps the panel 'Queue 1'"),
        ("layout-reference", "the layout refers to 'panel-3', which is no element"),
        ("layout-reference", "the element 'panel-4' is in no layout, so it is never shown"),
    ]


def test_the_first_v2_schema_wrote_queries_and_types_differently() -> None:
    document = v2(v2_panel("sum("))
    document["apiVersion"] = "dashboard.grafana.app/v2alpha1"
    spec = document["spec"]["elements"]["panel-1"]["spec"]
    spec["vizConfig"] = {"kind": "timeseries", "spec": spec["vizConfig"]["spec"]}
    query = {"kind": "prometheus", "spec": {"expr": "sum(", "legendFormat": "x"}}
    datasource = {"type": "prometheus", "uid": "${datasource}"}
    spec["data"]["spec"]["queries"][0]["spec"] = {
        "refId": "A",
        "hidden": False,
        "query": query,
        "datasource": datasource,
    }
    items = [{"kind": "GridLayoutRow", "spec": {"title": "Row", "collapsed": True, "elements": [v2_item("panel-1")]}}]
    document["spec"]["layout"] = {"kind": "GridLayout", "spec": {"items": items}}
    (found,) = findings(document)
    assert (found.rule, found.section) == ("promql", ("Row",))


def test_v2_variables() -> None:
    def query_variable(name: str, query: dict[str, Any], refresh: str) -> dict[str, Any]:
        data = {"kind": "DataQuery", "group": "prometheus", "datasource": {"name": "${datasource}"}, "spec": query}
        return {"kind": "QueryVariable", "spec": {"name": name, "refresh": refresh, "query": data}}

    variables = [
        query_variable("a", {"query": "label_values(up, a)"}, "onTimeRangeChanged"),
        query_variable("b", {"__legacyStringValue": 'label_values(up{a="$a"}, b)'}, "onDashboardLoad"),
        query_variable("c", {"query": "oops(up)"}, "onTimeRangeChanged"),
        {"kind": "CustomVariable", "spec": {"name": "d", "query": "1,2"}},
    ]
    document = v2(v2_panel(title="of $b, $c"), variables=variables)
    assert [(one.rule, one.message.split(":")[0]) for one in findings(document)] == [
        ("variable-query", "the query of $c"),
        ("unused-variable", "nothing uses $d"),
        ("variable-refresh", "the values of $b are read only as the dashboard loads"),
    ]


def test_v2_variables_are_used_by_repeats_and_conditions() -> None:
    condition = {"kind": "ConditionalRenderingVariable", "spec": {"variable": "b", "operator": "equals", "value": "1"}}
    rendering = {"kind": "ConditionalRenderingGroup", "spec": {"items": [condition]}}
    inside = {"kind": "GridLayout", "spec": {"items": [v2_item("panel-1")]}}
    repeat = {"mode": "variable", "value": "a"}
    spec = {"title": "Row", "layout": inside, "repeat": repeat, "conditionalRendering": rendering}
    layout = {"kind": "RowsLayout", "spec": {"rows": [{"kind": "RowsLayoutRow", "spec": spec}]}}
    variables = [{"kind": "CustomVariable", "spec": {"name": name, "query": "1"}} for name in ("a", "b")]
    assert findings(v2(v2_panel(), variables=variables, layout=layout)) == []
