"""Small dashboards for the linter's tests: clean ones, to be spoilt in one place."""

import copy
from typing import Any

from generator.lint import Finding, KnownMetrics, LintConfig, lint_dashboard

Json = dict[str, Any]

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
TEMPO = {"type": "tempo", "uid": "${tempo}"}

KNOWN = KnownMetrics(
    types={
        "requests_total": "counter",
        "queue_size": "gauge",
        "pieces_total": "gauge",
        "latency_seconds": "histogram",
        "trainer_reward": "gauge",
    },
    open_patterns=(r"trainer_val_.*",),
    run_matchers={"project": "project", "experiment_name": "experiment_name"},
    carries_run_labels=lambda name: name.startswith("trainer_"),
)


def panel(expr: str = "queue_size", /, **changes: Any) -> Json:
    """A clean time series of one query."""
    clean: Json = {
        "id": 1,
        "type": "timeseries",
        "title": "Queue",
        "description": "Requests that wait. Above 100 the service is too slow.",
        "gridPos": {"x": 0, "y": 0, "w": 12, "h": 8},
        "datasource": DATASOURCE,
        "targets": [{"refId": "A", "expr": expr, "legendFormat": "waiting", "datasource": DATASOURCE}],
        "fieldConfig": {"defaults": {"unit": "short"}, "overrides": []},
        "options": {},
    }
    return {**clean, **changes}


def stat(**defaults: Any) -> Json:
    """A clean stat, with other field defaults."""
    return panel(type="stat", fieldConfig={"defaults": {"unit": "short", **defaults}, "overrides": []})


def timeline(query: str) -> Json:
    """A state timeline of TraceQL."""
    target = {"refId": "A", "queryType": "traceql", "query": query, "datasource": TEMPO}
    return panel(type="state-timeline", datasource=TEMPO, targets=[target])


def row(title: str = "Row", panels: list[Json] | None = None, /, **changes: Any) -> Json:
    inside = panels or []
    place = {"x": 0, "y": 100, "w": 24, "h": 1}
    return {"id": 99, "type": "row", "title": title, "collapsed": True, "gridPos": place, "panels": inside, **changes}


def variable(name: str, query: str = "label_values(up, job)", /, **changes: Any) -> Json:
    return {"type": "query", "name": name, "query": query, "refresh": 2, "datasource": DATASOURCE, **changes}


DATASOURCE_VARIABLE = {"type": "datasource", "name": "datasource", "query": "prometheus"}
TEMPO_VARIABLE = {"type": "datasource", "name": "tempo", "query": "tempo"}


def board(*panels: Json, variables: tuple[Json, ...] = (), **changes: Any) -> Json:
    """A dashboard of these panels; without any, of one clean panel."""
    uses_tempo = any(one.get("type") == "state-timeline" for one in panels)
    offered = [DATASOURCE_VARIABLE, *([TEMPO_VARIABLE] if uses_tempo else []), *variables]
    clean = {
        "uid": "clean",
        "title": "Clean",
        "schemaVersion": 39,
        "panels": list(panels) or [panel()],
        "templating": {"list": offered},
        "annotations": {"list": []},
        "editable": False,
    }
    return copy.deepcopy({**clean, **changes})


def findings(document: Any, rule: str = "", *, known: KnownMetrics | None = KNOWN) -> list[Finding]:
    """What the linter says of a dashboard; with `rule`, of that rule alone, also where it is off by default."""
    config = LintConfig({rule: "warning"} if rule else {})
    return [one for one in lint_dashboard(document, config, known) if not rule or one.rule == rule]


def rules(document: Any, **options: Any) -> set[str]:
    return {finding.rule for finding in findings(document, **options)}


def v2(*panels: Json, variables: list[Json] | None = None, layout: Json | None = None) -> Json:
    """A v2 resource of panels as `v2_panel` makes them, one below the other unless a layout is given."""
    datasource = {"kind": "DatasourceVariable", "spec": {"name": "datasource", "pluginId": "prometheus"}}
    items = [v2_item(f"panel-{one['spec']['id']}", y=8 * at) for at, one in enumerate(panels)]
    return {
        "apiVersion": "dashboard.grafana.app/v2",
        "kind": "Dashboard",
        "metadata": {"name": "second"},
        "spec": {
            "title": "Second",
            "elements": {f"panel-{one['spec']['id']}": one for one in panels},
            "layout": layout or {"kind": "GridLayout", "spec": {"items": items}},
            "variables": [datasource, *(variables or [])],
            "annotations": [],
            "links": [],
        },
    }


def v2_item(element: str, x: int = 0, y: int = 0, w: int = 12, h: int = 8) -> Json:
    reference = {"kind": "ElementReference", "name": element}
    return {"kind": "GridLayoutItem", "spec": {"x": x, "y": y, "width": w, "height": h, "element": reference}}


def v2_panel(expr: str = "queue_size", /, id: int = 1, datasource: str = "${datasource}", **changes: Any) -> Json:
    query = {
        "kind": "DataQuery",
        "group": "prometheus",
        "version": "v0",
        "datasource": {"name": datasource},
        "spec": {"expr": expr, "legendFormat": "waiting"},
    }
    queries = [{"kind": "PanelQuery", "spec": {"refId": "A", "hidden": False, "query": query}}]
    field_config = {"defaults": {"unit": "short"}, "overrides": []}
    spec = {
        "id": id,
        "title": f"Queue {id}",
        "description": "Requests that wait.",
        "links": [],
        "data": {"kind": "QueryGroup", "spec": {"queries": queries, "transformations": [], "queryOptions": {}}},
        "vizConfig": {"kind": "VizConfig", "group": "timeseries", "spec": {"options": {}, "fieldConfig": field_config}},
    }
    return {"kind": "Panel", "spec": {**spec, **changes}}
