"""Panels of trainer scalars, made of what the catalog knows of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dashboards_src.catalog import BY_KEY
from dashboards_src.catalog.metric import Healthy, Metric
from dashboards_src.run import BY_RUN, RUN
from generator.fields import Json, Threshold, limits, override
from generator.panel import Panel
from generator.panels import timeseries
from generator.queries import Query

MEAN_OF_SPREAD = [
    override("^mean ", custom__lineWidth=2),
    override("^(min|max) ", custom__lineStyle={"fill": "dash", "dash": [6, 4]}),
]
"""The mean stands out, the extremes are dashed."""


def metric(key: str) -> Metric:
    """What the catalog knows of verl's `key`. Raises KeyError where it knows nothing."""
    return BY_KEY[key]


_ALSO_KNOWN_AS = {
    # In bypass mode the actor's worker logs these, and its name comes in front.
    "rollout_corr/": "actor/rollout_corr/",
    # The documentation's name, and what the code of August 2026 logs.
    "actor/distillation/": "distillation/",
}


def names(known: Metric) -> tuple[str, ...]:
    """The names under which a metric is exposed, depending on trainer and version."""
    others = [
        replace(known, key=known.key.replace(prefix, other, 1)).name
        for prefix, other in _ALSO_KNOWN_AS.items()
        if known.key.startswith(prefix)
    ]
    return (known.name, *others)


def select(key: str) -> str:
    """The PromQL selector of verl's `key`, filtered to the run."""
    return RUN.select(names(BY_KEY[key]))


def thresholds(healthy: Healthy | None) -> tuple[Threshold, ...]:
    """The catalog's healthy range as colours; none where no range is known."""
    return limits(above=healthy.above, below=healthy.below) if healthy else ()


def scalar(key: str, *, title: str = "", width: int = 6, height: int = 7, bands: bool = False) -> Panel:
    """One scalar over time, with its healthy range."""
    known = BY_KEY[key]
    return timeseries(
        title or known.title,
        Query(select(key), BY_RUN),
        description=described(known),
        unit=known.unit,
        thresholds=thresholds(known.healthy),
        bands=bands,
        width=width,
        height=height,
    )


def scalars(
    title: str,
    keys: Mapping[str, str],
    *,
    description: str = "",
    width: int = 6,
    height: int = 7,
    overrides: Sequence[Json] = (),
    ranged_by: str | None = None,
) -> Panel:
    """Several scalars of one unit in one graph, by what the legend calls each.

    The description is that of the first unless one is given; the healthy range is that of the
    scalar that the legend calls `ranged_by`.
    """
    first = BY_KEY[next(iter(keys.values()))]
    return timeseries(
        title,
        *(Query(select(key), f"{name} {BY_RUN}") for name, key in keys.items()),
        description=description or described(first),
        unit=first.unit,
        thresholds=thresholds(BY_KEY[keys[ranged_by]].healthy) if ranged_by else (),
        fill=0,
        width=width,
        height=height,
        overrides=overrides,
    )


def spread(title: str, family: str, *, width: int = 6, height: int = 7) -> Panel:
    """A family that verl logs as mean, max and min, in one graph."""
    names = {name: f"{family}/{name}" for name in ("mean", "max", "min") if f"{family}/{name}" in BY_KEY}
    return scalars(title, names, width=width, height=height, overrides=MEAN_OF_SPREAD)


def described(known: Metric) -> str:
    """What a person reads under the panel's title: the meaning, the healthy range and verl's key."""
    ranges = ""
    if known.healthy:
        ranges = f" Healthy: {range_text(known.healthy)}."
    return f"{known.meaning}{ranges} verl: `{known.key}`."


def range_text(healthy: Healthy) -> str:
    """A healthy range in words: `below 0.005, critical above 0.01`."""
    parts = []
    for limit, good, bad in ((healthy.above, "below", "above"), (healthy.below, "above", "below")):
        warning, critical = limit or (None, None)
        if warning is not None:
            parts.append(f"{good} {warning:g}")
        if critical is not None:
            parts.append(f"critical {bad} {critical:g}")
    return ", ".join(parts)
