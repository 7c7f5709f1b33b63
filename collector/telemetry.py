"""The collector's own metrics, all named `rl_insight_collector_…`."""

import platform
from collections.abc import Iterable, Mapping
from importlib import metadata

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

_NAME = "rl_insight_collector"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


class Telemetry:
    """Counts what happens; what there is now is set when /metrics is asked for."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._reports = self._counter("reports", "Reports by outcome: accepted, repeated or refused.", "outcome")
        self._refused = self._counter("requests_refused", "Requests that were refused, by reason.", "reason")
        self._events = self._counter("events", "Values of series taken from reports, by kind.", "kind")
        self._spans = self._counter(
            "spans",
            "Spans by what became of them: accepted, repeated, ended (for a source that died) or sent.",
            "outcome",
        )
        self._dropped = self._counter("spans_dropped", "Spans thrown away, by reason.", "reason")
        self._conflicts = self._counter("families_refused", "Metrics passed over, as their name has another type.")
        self._bad_targets = self._counter(
            "targets_refused", "Scrape targets in reports that cannot be scraped or are too many."
        )
        self._failures = self._counter("failures", "Attempts that failed, by what: database, register, export.", "what")
        self.commit_seconds = self._histogram("commit_seconds", "Time to store a batch of reports.")
        self.batch_reports = self._histogram(
            "batch_reports", "Reports stored in one transaction.", (1, 2, 5, 10, 20, 50, 100, 200, 500)
        )
        self.handling_seconds = self._histogram("handling_seconds", "Time from a report's arrival to its answer.")
        self.scrape_seconds = self._histogram("scrape_seconds", "Time to write /metrics.")
        self.export_seconds = self._histogram("export_seconds", "Time of a request to the OTLP endpoint.")
        self._now = {name: self._gauge(name, says) for name, says in _GAUGES.items()}
        build = self._gauge("build_info", "1, with the version.", "version", "python")
        build.labels(_version(), platform.python_version()).set(1)
        ProcessCollector(namespace=_NAME, registry=self.registry)

    def report(self, outcome: str) -> None:
        self._reports.labels(outcome).inc()

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()

    def events(self, by_kind: Mapping[str, int]) -> None:
        for kind, count in by_kind.items():
            self._events.labels(kind).inc(count)

    def spans(self, outcome: str, count: int) -> None:
        if count:
            self._spans.labels(outcome).inc(count)

    def spans_dropped(self, reason: str, count: int) -> None:
        if count:
            self._dropped.labels(reason).inc(count)

    def refused_families(self, names: Iterable[str]) -> None:
        self._conflicts.inc(len(list(names)))

    def refused_targets(self, number: int) -> None:
        self._bad_targets.inc(number)

    def failure(self, what: str) -> None:
        self._failures.labels(what).inc()

    def set_now(self, **values: float) -> None:
        """Sets the gauges of what there is now, by the names in the table below."""
        for name, value in values.items():
            self._now[name].set(value)

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(f"{_NAME}_{name}", says, labels, registry=self.registry)

    def _gauge(self, name: str, says: str, *labels: str) -> Gauge:
        return Gauge(f"{_NAME}_{name}", says, labels, registry=self.registry)

    def _histogram(self, name: str, says: str, buckets: tuple[float, ...] = _SECONDS) -> Histogram:
        return Histogram(f"{_NAME}_{name}", says, buckets=buckets, registry=self.registry)


_GAUGES = {
    "series": "Series that /metrics shows, of trainers and states.",
    "source_series": "Series of all sources, those held back included.",
    "sources": "Live sources.",
    "sources_held": "Live sources whose series wait for their run to be named.",
    "runs": "Runs with live sources.",
    "targets": "Registered scrape targets.",
    "journal_spans": "Spans that wait to be sent.",
    "journal_bytes": "Bytes of spans that wait to be sent.",
    "journal_limit_bytes": "Bound on them.",
    "waiting_reports": "Reports that wait to be stored.",
    "waiting_bytes": "Bytes of reports that wait to be stored.",
    "database_ok": "1 while reports can be stored, 0 while the disk or the database refuses.",
    "exporter_ok": "1 while the OTLP endpoint takes spans or none is configured, 0 while it does not.",
}


def _version() -> str:
    try:
        return metadata.version("rl-insight")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "unknown"
