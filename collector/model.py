"""What is known of live sources: the series they report and the runs these belong to.

Only the writer's thread changes it, and holds `Model.lock` while it does; others read under that lock.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from .labels import RUN_LABELS, label_text
from .totals import Vector, total

Kind = Literal["gauge", "counter", "histogram", "state"]
RunName = tuple[str, str]
"""A run's project and experiment_name."""

Named = tuple[str | None, str | None] | None
"""The run's labels where the caller gave a series some of its own."""

PartKey = tuple[str, str, Named]
"""A family's name, the labels without the run's, and the run's where the caller gave them."""

NO_RUN: RunName = ("", "")
"""The run of sources that belong to none."""

STATE_FAMILY = "rl_insight_state"
DROPPED_FAMILY = "rl_insight_client_dropped_total"
RESERVED_PREFIX = "rl_insight_collector_"
_STATE_SAMPLES = tuple(f"{STATE_FAMILY}_{what}_total" for what in ("seconds", "intervals", "ignored"))


class Part:
    """What one source says of one series. Of a gauge `values` is the value and when it was set."""

    __slots__ = ("baseline", "family", "named", "number", "series", "text", "values")

    def __init__(self, family: "Family", text: str, named: Named, number: int) -> None:
        """`text` is the labels without the run's; `named` are the run's where the caller gave them."""
        self.family = family
        self.text = text
        self.named = named
        self.number = number
        self.values: Vector = ()
        self.baseline: Vector | None = None
        """How much of `values` is already counted in a run's folded totals."""
        self.series: Series | None = None

    @property
    def key(self) -> "PartKey":
        return self.family.name, self.text, self.named

    def run_in(self, run: RunName) -> RunName:
        """The run that it is shown in while its source belongs to `run`: what the caller named stands above."""
        project, experiment = self.named or (None, None)
        return run[0] if project is None else project, run[1] if experiment is None else experiment


class Series:
    """One exposed series: what all sources of its run say of it."""

    __slots__ = ("family", "folded", "line", "parts", "prefixes", "run", "shown", "text")

    def __init__(self, family: "Family", run: "Run", text: str) -> None:
        self.shown: Vector | None = None
        self.line = ""
        """What the last scrape showed, and how: most values have not changed by the next one."""
        self.family = family
        self.run = run
        self.text = text
        self.parts: list[Part] = []
        self.folded: Vector | None = None
        self.prefixes = family.prefixes(",".join(filter(None, (run.text, text))))

    def value(self) -> Vector:
        """The latest of a gauge, else the sum."""
        parts = self.parts
        if len(parts) == 1 and self.folded is None and parts[0].baseline is None:
            return parts[0].values
        if self.family.kind == "gauge":
            return max((part.values for part in parts), key=lambda values: values[1])
        added = [part.values for part in parts]
        if self.folded is not None:
            added.append(self.folded)
        return total(added, [part.baseline for part in parts if part.baseline is not None])


class Family:
    """A metric's name, type and help, and its exposed series by their labels."""

    __slots__ = ("buckets", "help", "kind", "name", "saved", "series")

    def __init__(self, name: str, kind: Kind, help_: str = "", buckets: tuple[float, ...] = ()) -> None:
        self.name = name
        self.kind = kind
        self.help = help_
        self.buckets = buckets
        self.saved = False
        """Whether the database knows it."""
        self.series: dict[tuple[RunName, str], Series] = {}

    def sample_names(self) -> tuple[str, ...]:
        """Names of the samples that the family exposes."""
        if self.kind == "state":
            return _STATE_SAMPLES
        if self.kind == "histogram":
            return (self.name, *(f"{self.name}_{suffix}" for suffix in ("bucket", "count", "sum")))
        return (self.name,)

    def prefixes(self, labels: str) -> tuple[str, ...]:
        """Everything of a series's lines that stands before the values."""
        if self.kind == "state":
            return tuple(f"{name}{{{labels}}} " for name in _STATE_SAMPLES)
        if self.kind == "histogram":
            bounds = [*(repr(float(bound)) for bound in self.buckets), "+Inf"]
            buckets = (f'{self.name}_bucket{{{labels},le="{bound}"}} ' for bound in bounds)
            return (*buckets, f"{self.name}_count{{{labels}}} ", f"{self.name}_sum{{{labels}}} ")
        return (f"{self.name}{{{labels}}} ",)


@dataclass(eq=False, slots=True)
class Run:
    """A run and the sources that have series in it."""

    name: RunName
    text: str
    members: "set[Source]" = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Job:
    """What processes of one training job share, and the run they belong to once a process has named it."""

    name: str
    since: float
    """When the model's clock first saw it."""
    run: RunName | None = None
    released: bool = False
    """Whether its data goes on without a run, having waited long enough."""
    members: "set[Source]" = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Source:
    """A process that reports."""

    uid: str
    row: int
    host: str = ""
    pid: int = 0
    job: str = ""
    own_run: RunName | None = None
    run: RunName | None = None
    """None while it waits for its job's run."""
    left: RunName | None = None
    """The run whose folded totals count what the parts' baselines say."""
    sequence: int = 0
    span_number: int = 0
    sent_ns: int = 0
    heard: float = 0.0
    """When the model's clock last heard of it."""
    heard_at: float = 0.0
    """The same in seconds since 1970, to show."""
    final: bool = False
    shared: bool = False
    """Whether it was said that several processes seem to report under its id."""
    complete: bool = False
    """Whether all its series are known, so that it need not send everything."""
    parts: dict[PartKey, Part] = field(default_factory=dict)
    numbered: list[Part] = field(default_factory=list)
    """The parts that the database keeps, by their number."""
    open: bytes = b"[]"
    """Its open state intervals, as JSON."""
    targets: bytes = b""
    """The scrape targets it last registered, as JSON."""


class Model:
    """All live sources, jobs, runs and families."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clock = 0.0
        """Seconds for which the collector has listened; it stands still while it cannot."""
        self.sources: dict[str, Source] = {}
        self.jobs: dict[str, Job] = {}
        self.runs: dict[RunName, Run] = {}
        self.families: dict[str, Family] = {}
        self.samples: dict[str, Family] = {}
        """The family that each exposed sample name belongs to."""
        self.parts = 0
        """Series of all sources, those held back included."""
        self.next_row = 1
        self.add_family(
            Family(STATE_FAMILY, "state", "Seconds that a lane spent in a state, up to its process's last report.")
        )
        self.add_family(Family(DROPPED_FAMILY, "counter", "What a client threw away before sending, by reason."))

    def add_family(self, family: Family) -> Family | None:
        """The family, unless one of its samples' names belongs to another."""
        names = family.sample_names()
        if any(name in self.samples or name.startswith(RESERVED_PREFIX) for name in names):
            return None
        self.families[family.name] = family
        self.samples.update(dict.fromkeys(names, family))
        return family

    def unused_families(self) -> list[Family]:
        """Families that no source reports any more."""
        used = {part.family for source in self.sources.values() for part in source.parts.values()}
        keep = (STATE_FAMILY, DROPPED_FAMILY)
        return [one for one in self.families.values() if not one.series and one not in used and one.name not in keep]

    def remove_family(self, family: Family) -> None:
        """Frees the family's names for others."""
        del self.families[family.name]
        for name in family.sample_names():
            del self.samples[name]

    def add_source(self, source: Source) -> None:
        self.sources[source.uid] = source
        self.parts += len(source.parts)

    def add_part(self, source: Source, part: Part) -> None:
        """Adds a part to a source that is in the model."""
        source.parts[part.key] = part
        if part.family.kind != "gauge":
            source.numbered.append(part)
        self.parts += 1
        if source.run is not None:
            self._attach(source, part, source.run)

    def remove_source(self, source: Source) -> None:
        self.leave(source)
        job = self.jobs.get(source.job)
        if job is not None:
            job.members.discard(source)
            if not job.members:
                del self.jobs[job.name]
        self.parts -= len(source.parts)
        del self.sources[source.uid]

    def join(self, source: Source, run: RunName) -> None:
        """Exposes a source's series as the run's."""
        source.run = run
        self._run(run).members.add(source)
        for part in source.parts.values():
            self._attach(source, part, run)

    def leave(self, source: Source) -> None:
        """Takes a source's series out of its run; runs without a source go, with all that is folded in them."""
        if source.run is None:
            return
        left = {source.run}
        for part in source.parts.values():
            series, part.series = part.series, None
            if series is None:
                continue
            left.add(series.run.name)
            series.parts.remove(part)
            if not series.parts and series.folded is None:
                del series.family.series[series.run.name, series.text]
        source.run = None
        for name in left:
            run = self.runs[name]
            run.members.discard(source)
            if not run.members:
                self._remove_run(run)

    def runs_that_end(self, leaving: Iterable[Source]) -> list[Run]:
        """The runs that have no other source than these."""
        gone = set(leaving)
        return [run for run in self.runs.values() if run.members <= gone]

    def fold(self, family: Family, run: RunName, text: str, values: Vector) -> None:
        """Sets what a run's sources that are gone have left of a series."""
        self._series(family, self._run(run), text).folded = values

    def _attach(self, source: Source, part: Part, run_name: RunName) -> None:
        run = self._run(part.run_in(run_name))
        run.members.add(source)
        part.series = self._series(part.family, run, part.text)
        part.series.parts.append(part)

    def _series(self, family: Family, run: Run, text: str) -> Series:
        series = family.series.get((run.name, text))
        if series is None:
            series = family.series[run.name, text] = Series(family, run, text)
        return series

    def _run(self, name: RunName) -> Run:
        run = self.runs.get(name)
        if run is None:
            text = ",".join(label_text({label: value}) for label, value in zip(RUN_LABELS, name, strict=True))
            run = self.runs[name] = Run(name, text)
        return run

    def _remove_run(self, run: Run) -> None:
        del self.runs[run.name]
        for family in self.families.values():
            gone = [key for key, series in family.series.items() if series.run is run]
            for key in gone:
                del family.series[key]
