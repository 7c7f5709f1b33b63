"""What every panel has in common, and how its parts come together in one of grafanalib's objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from grafanalib import core

from generator.fields import Json, Links, Threshold, plain
from generator.queries import AnyQuery, reference


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel without its place: `body` is grafanalib's object, everything else is for the builder."""

    title: str
    width: int
    height: int
    queries: tuple[AnyQuery, ...]
    links: Links
    body: Any
    is_tile: bool = False
    """Whether its links are followed by a click anywhere on it, rather than from its title."""


class Common(TypedDict, total=False):
    """What any panel with values may be told.

    `thresholds` colour values, `mappings` turn them into words, `minimum` and `maximum` bound
    the axis, `decimals` rounds, `no_value` is shown where nothing came back, `time_from`
    (`5m`) shows another stretch of time than the dashboard, `repeat` is the variable for each
    value of which the panel stands once.
    """

    width: int
    height: int
    thresholds: Sequence[Threshold]
    mappings: Sequence[Json]
    minimum: float | None
    maximum: float | None
    decimals: int
    no_value: str
    links: Links
    overrides: Sequence[Json]
    transformations: Sequence[Json]
    time_from: str
    color: Json
    repeat: str


def make(
    kind: Any,
    title: str,
    queries: Sequence[AnyQuery],
    description: str,
    unit: str,
    common: Common,
    *,
    size: tuple[int, int],
    options: Mapping[str, Any] | None = None,
    custom: Mapping[str, Any] | None = None,
    is_tile: bool = False,
    **native: Any,
) -> Panel:
    """A grafanalib panel of `kind`; `native` are its own arguments, the rest goes over its JSON."""
    defaults: Json = {
        "unit": unit,
        "custom": dict(custom or {}),
        "mappings": list(common.get("mappings", ())),
        "thresholds": {
            "mode": "absolute",
            "steps": [{"color": step.color, "value": step.value} for step in common.get("thresholds") or plain()],
        },
    }
    for given, grafana in _DEFAULTS.items():
        if common.get(given) is not None:
            defaults[grafana] = common[given]
    body = kind(
        title=title,
        description=description,
        dataSource=queries[0].datasource if queries else None,
        targets=[query.target(reference(index)) for index, query in enumerate(queries)],
        maxDataPoints=None,
        transformations=list(common.get("transformations", ())),
        timeFrom=common.get("time_from"),
        repeat=core.Repeat(direction="h", variable=common["repeat"]) if "repeat" in common else core.Repeat(),
        extraJson={
            "fieldConfig": {"defaults": defaults, "overrides": list(common.get("overrides", ()))},
            "options": dict(options or {}),
        },
        **native,
    )
    width, height = common.get("width", size[0]), common.get("height", size[1])
    return Panel(title, width, height, tuple(queries), common.get("links", ()), body, is_tile)


_DEFAULTS: dict[Literal["minimum", "maximum", "decimals", "no_value", "color"], str] = {
    "minimum": "min",
    "maximum": "max",
    "decimals": "decimals",
    "no_value": "noValue",
    "color": "color",
}


def legend_of(mode: Literal["list", "table", "hidden"]) -> Json:
    legend: Json = {
        "showLegend": mode != "hidden",
        "displayMode": "table" if mode == "table" else "list",
        "placement": "bottom",
        "calcs": ["lastNotNull", "mean", "max"] if mode == "table" else [],
    }
    return legend | ({"sortBy": "Last *", "sortDesc": True} if mode == "table" else {})


def last_value() -> Json:
    return {"calcs": ["lastNotNull"], "fields": "", "values": False}


def hidden_from_nothing() -> Json:
    return {"legend": False, "tooltip": False, "viz": False}
