"""What a project knows about its metrics. The linter itself knows only Prometheus's own."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

MetricType = Literal["counter", "gauge", "histogram", "summary"]

OF_PROMETHEUS: dict[str, MetricType] = {
    "up": "gauge",
    "ALERTS": "gauge",
    "ALERTS_FOR_STATE": "gauge",
    "scrape_duration_seconds": "gauge",
    "scrape_samples_scraped": "gauge",
    "scrape_samples_post_metric_relabeling": "gauge",
    "scrape_series_added": "gauge",
    "scrape_timeout_seconds": "gauge",
    "scrape_sample_limit": "gauge",
    "scrape_body_size_bytes": "gauge",
}
"""What every Prometheus adds to what it scrapes."""

_SUFFIXES: dict[str, tuple[MetricType, ...]] = {
    "_bucket": ("histogram",),
    "_sum": ("histogram", "summary"),
    "_count": ("histogram", "summary"),
}


def _none_carries(name: str) -> bool:
    return False


@dataclass(frozen=True)
class KnownMetrics:
    """The metrics that dashboards may use, and which of them belong to a run.

    `types` maps a name as it is exposed (a counter with its `_total`, a histogram without `_bucket`) to what it
    is, which need not be what its exposition says: a gauge that is only ever added to is a counter.
    `open_patterns` are regular expressions for whole names that no one can list beforehand. `complete` says
    that there are no metrics but these, so that another name is a mistake.

    `run_matchers` maps each label that parts one run from another to the variable that filters by it, such as
    `{"project": "project"}`; `carries_run_labels` says of a name whether its series have these labels. For a
    selector by name pattern it is asked about the pattern's literal beginning.
    """

    types: Mapping[str, MetricType]
    open_patterns: tuple[str, ...] = ()
    run_matchers: Mapping[str, str] = field(default_factory=dict)
    carries_run_labels: Callable[[str], bool] = _none_carries
    complete: bool = True

    def type_of(self, name: str) -> MetricType | None:
        """The type of an exposed series: a histogram's `_bucket`, `_sum` and `_count` are counters."""
        exact = self.types.get(name) or OF_PROMETHEUS.get(name)
        if exact:
            return exact
        return "counter" if self._part_of(name) else None

    def knows(self, name: str) -> bool:
        return self.type_of(name) is not None or self._is_created(name) or bool(self._open.fullmatch(name))

    def matching(self, pattern: str) -> Iterator[str]:
        """Known names that a pattern matches, as Prometheus would: from beginning to end."""
        try:
            compiled = re.compile(pattern)
        except re.error:
            # RE2 knows things that Python's re does not; then nothing is claimed about the pattern.
            return
        yield from (name for name in self.types if compiled.fullmatch(name))

    def _part_of(self, name: str) -> bool:
        for suffix, types in _SUFFIXES.items():
            if name.endswith(suffix) and self.types.get(name.removesuffix(suffix)) in types:
                return True
        return False

    def _is_created(self, name: str) -> bool:
        """prometheus_client exposes when each counter, histogram and summary began."""
        base = name.removesuffix("_created")
        return base != name and any(self.types.get(one) not in (None, "gauge") for one in (base, f"{base}_total"))

    @cached_property
    def _open(self) -> "re.Pattern[str]":
        # Without patterns, nothing matches: not even the empty name.
        return re.compile("|".join(f"(?:{one})" for one in self.open_patterns) or r"(?!)")
