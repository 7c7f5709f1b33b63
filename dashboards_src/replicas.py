"""How a signal of the rollout engines is shown: over all replicas, its spread, and the worst by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dashboards_src.run import BY_REPLICA, BY_RUN, RUN
from generator.fields import Threshold, override
from generator.panel import Panel
from generator.panels import bargauge, timeseries
from generator.promql import Names, Scope, ratio
from generator.queries import Query

Worst = Literal["highest", "lowest"]

WORST_BY_NAME = 6
_HEIGHT = 7

SPREAD_LOOK = [
    override("^median ", custom__lineWidth=2),
    override("^(lowest|highest) ", custom__lineStyle={"fill": "dash", "dash": [6, 4]}, custom__fillOpacity=0),
]


PerReplica = Callable[[Scope], str]
"""PromQL of one series a replica, at each moment or over all of the time that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One thing that every replica reports.

    `together` are the queries of the panel over all replicas. `worst` tells which end is the bad
    one, and so which replicas are named.
    """

    title: str
    description: str
    unit: str
    each: PerReplica
    together: Sequence[Query]
    worst: Worst = "highest"
    thresholds: Sequence[Threshold] = ()
    maximum: float | None = None


def line(signal: Signal) -> tuple[Panel, Panel, Panel]:
    """The signal in one line of the dashboard: together, spread over replicas, the worst by name."""
    return _together(signal), _spread(signal), _by_name(signal)


def _together(signal: Signal) -> Panel:
    return timeseries(
        signal.title,
        *signal.together,
        description=signal.description,
        unit=signal.unit,
        thresholds=signal.thresholds,
        minimum=0,
        maximum=signal.maximum,
        width=10,
        height=_HEIGHT,
    )


def _spread(signal: Signal) -> Panel:
    each = signal.each(RUN)
    return timeseries(
        f"{signal.title}: spread over replicas",
        Query(RUN.min(each), f"lowest {BY_RUN}"),
        Query(RUN.median(each), f"median {BY_RUN}"),
        Query(RUN.max(each), f"highest {BY_RUN}"),
        description=f"{signal.description} Here its lowest, median and highest replica: lines that part mean that "
        "replicas do unequal work or that some are slow.",
        unit=signal.unit,
        fill=0,
        overrides=SPREAD_LOOK,
        thresholds=signal.thresholds,
        minimum=0,
        maximum=signal.maximum,
        width=9,
        height=_HEIGHT,
    )


def _by_name(signal: Signal) -> Panel:
    extreme = RUN.bottom if signal.worst == "lowest" else RUN.top
    return bargauge(
        f"{signal.title}: {signal.worst}",
        Query(extreme(WORST_BY_NAME, signal.each(RUN.over_range())), BY_REPLICA, instant=True),
        description=f"{signal.description} Here the {WORST_BY_NAME} replicas of a run where it is {signal.worst} over "
        "all of the time that is shown, by name: zoom in on a bad stretch to see who it was.",
        unit=signal.unit,
        thresholds=signal.thresholds,
        minimum=0,
        maximum=signal.maximum,
        width=5,
        height=_HEIGHT,
    )


def counted(title: str, names: Names, *, description: str, unit: str = "short", worst: Worst = "highest") -> Signal:
    """A gauge that adds up over replicas, such as waiting requests."""
    return Signal(
        title=title,
        description=description,
        unit=unit,
        each=lambda scope: scope.level(scope.sum(scope.select(names), "replica")),
        together=(Query(RUN.sum(RUN.select(names)), BY_RUN),),
        worst=worst,
    )


def rate_of(title: str, names: Names, *, description: str, unit: str, worst: Worst = "lowest") -> Signal:
    """A counter's increase a second, which adds up over replicas."""
    return Signal(
        title=title,
        description=description,
        unit=unit,
        each=lambda scope: scope.sum(scope.rate(names), "replica"),
        together=(Query(RUN.sum(RUN.rate(names)), BY_RUN),),
        worst=worst,
    )


def quotient(
    title: str,
    part: Names,
    whole: Names,
    *,
    description: str,
    unit: str = "percentunit",
    maximum: float | None = 1,
    worst: Worst = "lowest",
) -> Signal:
    """One counter's increase over another's: a share, or so many for each."""

    def over(scope: Scope, *by: str) -> str:
        return ratio(scope.sum(scope.rate(part), *by), scope.sum(scope.rate(whole), *by))

    return Signal(
        title=title,
        description=description,
        unit=unit,
        each=lambda scope: over(scope, "replica"),
        together=(Query(over(RUN), BY_RUN),),
        worst=worst,
        maximum=maximum,
    )


def fraction(
    title: str, names: Names, *, description: str, worst: Worst = "highest", thresholds: Sequence[Threshold] = ()
) -> Signal:
    """A gauge from 0 to 1 that does not add up: over replicas its mean and its highest."""

    def each(scope: Scope) -> str:
        return scope.level(scope.max(scope.select(names), "replica"))

    return Signal(
        title=title,
        description=description,
        unit="percentunit",
        each=each,
        together=(Query(RUN.avg(each(RUN)), f"mean {BY_RUN}"), Query(RUN.max(each(RUN)), f"highest {BY_RUN}")),
        worst=worst,
        thresholds=thresholds,
        maximum=1,
    )


def latency(title: str, histogram: Names, *, description: str) -> Signal:
    """A histogram of seconds: p50 and p99 over all requests, and the p99 of each replica."""
    return Signal(
        title=title,
        description=description,
        unit="s",
        each=lambda scope: scope.quantile(0.99, histogram, by=("replica",)),
        together=(
            Query(RUN.quantile(0.5, histogram), f"p50 {BY_RUN}"),
            Query(RUN.quantile(0.99, histogram), f"p99 {BY_RUN}"),
        ),
    )
