"""Reports as docs/reports.md says: what a source has to tell, as compressed JSON, in parts of bounded size."""

import zlib
from collections.abc import Iterator
from json import JSONEncoder
from math import isfinite
from time import monotonic, sleep
from typing import NamedTuple

from rl_insight import faults
from rl_insight.clock import Clock
from rl_insight.job import job_id
from rl_insight.metrics import BUCKETS, Counter, Family, Gauge, Histogram, Series
from rl_insight.names import non_finite
from rl_insight.source import Source, host
from rl_insight.spans import LaneName, Piece, Span, clean
from rl_insight.states import OpenRow

PART_SIZE = 1_000_000
"""About how many characters of JSON a report holds at most; what is left goes into the next."""

SMALLEST_PART = 50_000

HEARTBEAT_SECONDS = 10.0
"""So often a source with nothing new says that it lives."""

_to_json = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Report(NamedTuple):
    """A report as it travels; `more` says that there is more to send at once."""

    sequence: int
    body: bytes
    spans: int
    full: bool
    final: bool
    more: bool


class Reporter:
    """Makes the reports of one source, each of them once: what is in one is not in the next."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._sequence = 0
        self._span_number = 0
        self._part_size = PART_SIZE
        self._everything = True
        self._everything_refused = False
        self._walk: Iterator[tuple[Family, Series]] | None = None
        self._facts_said: dict[str, object] = {}
        self._targets_said = -1
        self._built = 0.0

    def send_everything(self) -> None:
        """Has the next report carry every series, state and target."""
        self._everything = True

    def accepted(self) -> None:
        """The last report is safe, so what was refused before may be tried again."""
        self._everything_refused = False

    def refused(self, report: Report, *, too_large: bool) -> bool:
        """Counts a report that can never be accepted; its spans are lost. Whether its totals are sent once more."""
        self._source.dropped.add("reports_refused")
        if report.spans:
            self._source.dropped.add("spans_refused", report.spans)
        if too_large:
            self._part_size = max(SMALLEST_PART, self._part_size // 2)
        # Only once, or a source with something unacceptable would send all it has for ever.
        self._everything, self._everything_refused = not self._everything_refused, True
        return self._everything

    def build(self, namespace: str, *, final: bool) -> Report | None:
        """The next report; None where there is nothing to say yet. With `final`, what is open is ended."""
        source, everything = self._source, self._everything
        self._everything = True  # until this report is made, as one that fails has cleared what changed
        source.clock.follow()
        totals, still_open = source.states.report(everything=everything, close=final)
        metrics, size = self._metrics(namespace, everything)
        spans = self._spans(self._part_size - size)
        facts, targets_version = self._facts(), source.targets.version
        new_targets = everything or targets_version != self._targets_said
        news = everything or final or metrics or spans or totals or still_open or new_targets
        if not news and facts == self._facts_said and monotonic() - self._built < HEARTBEAT_SECONDS:
            self._everything = False
            return None
        more = self._walk is not None or len(source.spans) > 0
        fields = {
            "version": 1,
            "source": {"id": source.id, "host": host(), "pid": source.pid, "start_ns": source.start_ns},
            "sequence": self._sequence + 1,
            "sent_ns": source.clock.now(),
            **facts,
            "full": everything,
            "final": final and not more,
            "states": {"totals": totals, "open": [self._open(row) for row in still_open]},
            "targets": source.targets.jobs() if new_targets else [],
        }
        body = f'{_to_json(fields)[:-1]},"metrics":[{",".join(metrics)}],"spans":[{",".join(spans)}]}}'
        report = Report(self._sequence + 1, _gzip(body), len(spans), everything, final and not more, more)
        self._everything, self._facts_said, self._targets_said = False, facts, targets_version
        self._sequence, self._built = report.sequence, monotonic()
        return report

    def _facts(self) -> dict[str, object]:
        dropped = self._source.dropped.totals()
        if dropped.get("spans_full"):
            faults.warn("spans_full", "dropped the oldest spans, as more came than could be sent; they are counted")
        return {"job": job_id(), "run": self._source.run, "dropped": dropped}

    def _metrics(self, namespace: str, everything: bool) -> tuple[list[str], int]:
        """Families with what changed, in JSON, and its size. What finds no room is left in the walk."""
        if everything or self._walk is None:
            self._walk = _series(self._source, everything)
        size = 0
        families: dict[Family, list[str]] = {}
        for taken, (family, series) in enumerate(self._walk, start=1):
            families.setdefault(family, []).append(_series_json(series, self._source.clock))
            size += len(families[family][-1])
            _breathe(taken)
            if size >= self._part_size:
                break
        else:
            self._walk = None
        return [_family_json(family, namespace, lines) for family, lines in families.items()], size

    def _spans(self, room: int) -> list[str]:
        """The oldest spans in JSON, as many as there is room for."""
        taken: list[str] = []
        while room > 0 and (span := self._source.spans.take()):
            self._span_number += 1
            taken.append(_to_json(self._span(span)))
            room -= len(taken[-1])
            _breathe(len(taken))
        return taken

    def _span(self, span: Span | Piece) -> dict[str, object]:
        if isinstance(span, Span):
            return {"number": self._span_number, **span._asdict()}
        lane, state, start, end, interval, goes_on, attributes = span
        return {
            "number": self._span_number,
            "kind": "state",
            "name": state,
            "start_ns": start,
            "end_ns": end,
            "attributes": clean(attributes),
            "lane": lane.name,
            "state": state,
            "interval_id": self._interval_id(lane, interval),
            "open": goes_on,
        }

    def _open(self, row: OpenRow) -> tuple[str, str, str, int]:
        return row.lane.name, row.state, self._interval_id(row.lane, row.interval), row.piece_start_ns

    def _interval_id(self, lane: LaneName, number: int) -> str:
        return f"{self._source.id[:12]}-{lane.number}-{number}"


def _series(source: Source, everything: bool) -> Iterator[tuple[Family, Series]]:
    for family in source.metrics.families():
        for series in list(family.series.values()):
            # A gauge that another thread has only just made has no value yet.
            if series.changed or (everything and not (isinstance(series, Gauge) and not series.point[1])):
                yield family, series


def _series_json(series: Series, clock: Clock) -> str:
    """The series as a report has it, which counts as reported then."""
    labels = series.labels_json = series.labels_json or _to_json(dict(series.labels))
    if isinstance(series, Gauge):
        series.changed = False
        value, set_at = series.point
        return f"[{labels},{_number(value)},{clock.wall(set_at)}]"
    with series.lock:
        series.changed = False
        if isinstance(series, Counter):
            return f"[{labels},{_number(series.total)}]"
        if isinstance(series, Histogram):
            return f"[{labels},{series.counts},{_number(series.sum)}]"
    raise TypeError(f"no report has a {type(series).__name__}")


def _family_json(family: Family, namespace: str, lines: list[str]) -> str:
    name = f"{namespace}_{family.name}{family.kind.suffix}" if namespace else f"{family.name}{family.kind.suffix}"
    fields: dict[str, object] = {"name": name, "type": family.kind.kind, "help": family.help}
    if family.kind is Histogram:
        fields["buckets"] = BUCKETS
    return f'{_to_json(fields)[:-1]},"series":[{",".join(lines)}]}}'


def _number(value: float) -> str:
    return repr(value) if isfinite(value) else f'"{non_finite(value)}"'


def _breathe(done: int) -> None:
    """Lets a training thread in now and then, which would else wait for the interpreter 5 ms."""
    if done % 200 == 0:
        sleep(0.0002)


def _gzip(body: str) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)  # level 1, in gzip's format
    return compressor.compress(body.encode("utf-8")) + compressor.flush()
