"""What the catalog knows about a metric."""

import re
from dataclasses import dataclass
from typing import Literal

NAMESPACE = "rl_insight_monitor"
"""Prefix of every trainer metric that the collector exposes."""

Better = Literal["higher", "lower", "neither"]

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Healthy:
    """Where a metric leaves its healthy range, as (warning, critical) in the metric's unit.

    `above` counts against values over the limit, `below` against values under it;
    a limit that is not known is None. `source` says where the figures come from.
    """

    source: str
    above: tuple[float | None, float | None] | None = None
    below: tuple[float | None, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One scalar that verl's trainer logs at each step, and what it means.

    `key` is verl's own, `unit` a Grafana unit id, `meaning` one or two sentences that
    a researcher can act on, `better` the direction in which the run improves,
    `source` where the meaning was found.
    """

    key: str
    title: str
    unit: str
    meaning: str
    better: Better = "neither"
    healthy: Healthy | None = None
    source: str = ""

    @property
    def name(self) -> str:
        """The exposed Prometheus name: namespace, then the key with `_` for what may not stand in one."""
        return f"{NAMESPACE}_{_NOT_IN_A_NAME.sub('_', self.key)}"
