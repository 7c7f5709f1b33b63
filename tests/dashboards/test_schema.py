"""Our JSON against Grafana's own generated schema: what it does not know, Grafana does not read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards_src.dashboards import FOLDER
from generator.sources import Source, discover

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
    theirs = json.loads(JSONEncoder().encode(Dashboard.from_json(ours)))
    assert set(differences(ours, theirs)) <= set(UNKNOWN_BUT_WANTED)


def test_the_schema_notices_a_field_that_it_does_not_know() -> None:
    register_default_plugins()
    wrong = {"title": "x", "panels": [{"type": "stat", "options": {"colourMode": "value"}}]}
    back = json.loads(JSONEncoder().encode(Dashboard.from_json(wrong)))
    assert "panels[].options.colourMode" in set(differences(wrong, back))
