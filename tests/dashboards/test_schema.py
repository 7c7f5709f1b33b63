"""Our JSON against Grafana's own generated schema: what it does not know, Grafana does not read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard as SchemaDashboard

from dashboards_src.dashboards import FOLDER
from generator.dashboard import Annotation, Dashboard, DashboardLinks, Section
from generator.fields import GREEN, RED, WebLink, column, limits, override, range_text, special_text, value_text
from generator.lint import lint_dashboard
from generator.panel import Common
from generator.panels import (
    bar_chart,
    bargauge,
    gauge,
    heatmap,
    stat,
    state_timeline,
    status_history,
    table,
    text,
    timeseries,
    trend,
)
from generator.queries import Query, TraceQuery
from generator.sources import Source, discover
from generator.span_timeline import span_timeline
from generator.variables import Variable

PROMETHEUS_ANNOTATION = (
    "Prometheus's data source reads it of an annotation; the schema covers only what all sources share"
)

UNKNOWN_BUT_WANTED = {
    "annotations.list[].step": PROMETHEUS_ANNOTATION,
    "annotations.list[].tagKeys": PROMETHEUS_ANNOTATION,
    "annotations.list[].textFormat": PROMETHEUS_ANNOTATION,
    "annotations.list[].titleFormat": PROMETHEUS_ANNOTATION,
}


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """The paths at which a value of ours is lost or comes back as another."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            inner = f"{path}.{key}".lstrip(".")
            # The schema writes nothing for a null; Grafana takes both alike.
            if key in theirs:
                yield from differences(value, theirs[key], inner)
            elif value is not None:
                yield inner
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from differences(one, other, f"{path}[]")
    elif ours != theirs:
        yield path


@pytest.mark.parametrize("source", discover(FOLDER), ids=lambda source: source.name)
def test_nothing_is_lost_in_grafanas_schema(source: Source) -> None:
    register_default_plugins()
    ours = json.loads(json.dumps(source.build()))
    theirs = json.loads(JSONEncoder().encode(SchemaDashboard.from_json(ours)))
    assert set(differences(ours, theirs)) <= set(UNKNOWN_BUT_WANTED)


def one_of_each() -> Dashboard:
    """A dashboard with every kind of panel, also those that ours do not use yet, told all that each can be told."""
    query = Query("up", "{{job}}")
    common: Common = {
        "thresholds": limits(above=(1, 2), below=(0.5, None)),
        "mappings": [value_text({"1": ("up", GREEN)}), range_text(2, None, "many", RED), special_text("nan", "?", RED)],
        "minimum": 0.5,
        "maximum": 10.5,
        "decimals": 2,
        "no_value": "nothing",
        "links": [WebLink("docs", "https://docs.example")],
        "overrides": [override("^a", custom__lineWidth=2), column("b", unit="s")],
        "time_from": "5m",
        "repeat": "job",
    }
    simple = [stat, gauge, bargauge, timeseries, heatmap, table, state_timeline, status_history, bar_chart]
    panels = [kind(kind.__name__, query, description="d", unit="s", **common) for kind in simple]
    lanes = span_timeline("spans", TraceQuery("{}"), description="d", lane="l", owner=("p",), colors=[("a", "blue")])
    steps = trend("trend", query, description="d", unit="s", x_field="step", **common)
    jobs = Variable("job", "Job", "label_values(up, job)", multi=True, all_value=".*", start=("a",), sort="number")
    return Dashboard(
        name="one_of_each",
        description="d",
        sections=[Section("All", [*panels, lanes, steps, text("text", "words")], repeat="job")],
        variables=[
            Variable("datasource", "P", "prometheus", kind="datasource"),
            Variable("tempo", "T", "tempo", kind="datasource"),
            jobs,
            Variable("words", "Words", "x", "textbox"),
        ],
        annotations=[Annotation("a", "up", "t", panels=[("All", "stat")])],
        links=[DashboardLinks("menu", "tag")],
    )


def test_every_kind_of_panel_is_known_to_the_schema() -> None:
    register_default_plugins()
    ours = json.loads(json.dumps(one_of_each().build()))
    theirs = json.loads(JSONEncoder().encode(SchemaDashboard.from_json(ours)))
    assert set(differences(ours, theirs)) <= set(UNKNOWN_BUT_WANTED)


def test_every_kind_of_panel_passes_the_linter() -> None:
    findings = lint_dashboard(one_of_each().build())
    assert [finding for finding in findings if finding.severity == "error"] == []


def test_the_schema_notices_a_field_that_it_does_not_know() -> None:
    register_default_plugins()
    wrong = {"title": "x", "panels": [{"type": "stat", "options": {"colourMode": "value"}}]}
    back = json.loads(JSONEncoder().encode(SchemaDashboard.from_json(wrong)))
    assert "panels[].options.colourMode" in set(differences(wrong, back))
