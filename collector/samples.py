"""What a report says of series, as changes to its source's parts."""

from collections.abc import Iterator
from functools import partial

import msgspec

from .decode import number, too_many_series
from .errors import Refused
from .labels import RUN_LABELS, check_labels, label_text, without_empty
from .load import PAGE
from .model import DROPPED_FAMILY, STATE_FAMILY, Family, Kind, Model, Named, Part, Source
from .plan import Plan
from .report import CounterFamily, FamilyInfo, GaugeFamily, Labels, Report
from .settings import Settings
from .totals import Vector

_encode = msgspec.msgpack.Encoder().encode
_PROJECT, _EXPERIMENT = RUN_LABELS

Sample = tuple[Family, str, Named, Labels | None, Vector]
"""A family, the labels as text without the run's, the run's if given, the labels to check, and the values."""


class Samples:
    """A report's series, sorted into known ones and new ones."""

    def __init__(self, model: Model, source: Source, report: Report, settings: Settings) -> None:
        """Raises Refused for labels that cannot be, or too many series."""
        self._model = model
        self._source = source
        self.known: list[tuple[Part, Vector]] = []
        self.new: dict[tuple[str, str, Named], tuple[Part, Vector]] = {}
        self.conflicts: list[str] = []
        """Names of families that were passed over, as their name is another family's."""
        self.by_kind: dict[str, int] = {}
        self._next_number = len(source.numbered)
        self._texts: dict[tuple[tuple[str, str], ...], tuple[str, Named]] = {}
        for sample in self._samples(report):
            self._sort_in(*sample)
        self._check_limits(settings)

    def plan(self, plan: Plan) -> None:
        """Plans to store and then show the values."""
        plan.then(self._show)
        self._plan_families(plan)
        row = self._source.row
        added = [part for part, _ in self.new.values() if part.family.kind != "gauge"]
        plan.sql(
            "INSERT INTO series VALUES (?, ?, ?, ?, ?, ?)",
            *((row, part.number, part.family.name, part.text, *(part.named or (None, None))) for part in added),
        )
        plan.sql(
            "INSERT INTO pages VALUES (?, ?, ?, NULL) ON CONFLICT DO UPDATE SET totals = excluded.totals",
            *((row, page, _encode(totals)) for page, totals in self._pages()),
        )

    def _show(self) -> None:
        for part, values in self.known:
            part.values = values
        for part, values in self.new.values():
            part.values = values
            self._model.add_part(self._source, part)

    def _samples(self, report: Report) -> Iterator[Sample]:
        for info in report.metrics:
            yield from self._of_family(info)
        state = self._model.families[STATE_FAMILY]
        for total in report.states.totals:
            text = label_text({"state_lane_id": total.lane, "state_name": total.state})
            yield state, text, None, None, (total.seconds, float(total.intervals), float(total.ignored))
        dropped = self._model.families[DROPPED_FAMILY]
        for reason, count in report.dropped.items():
            yield dropped, label_text({"reason": reason}), None, None, (float(count),)

    def _of_family(self, info: FamilyInfo) -> Iterator[Sample]:
        family = self._family(info)
        if family is None:
            self.conflicts.append(info.name)
            return
        if isinstance(info, GaugeFamily):
            for gauge in info.series:
                yield family, *self._split(gauge.labels), gauge.labels, (number(gauge.value), gauge.set_ns)
        elif isinstance(info, CounterFamily):
            for counter in info.series:
                yield family, *self._split(counter.labels), counter.labels, (number(counter.total),)
        else:
            for histogram in info.series:
                values = (*map(float, histogram.counts), number(histogram.sum))
                yield family, *self._split(histogram.labels), histogram.labels, values

    def _family(self, info: FamilyInfo) -> Family | None:
        kind: Kind = info.__struct_config__.tag  # type: ignore[assignment]  # the tags are kinds
        buckets = () if isinstance(info, GaugeFamily | CounterFamily) else tuple(info.buckets)
        family = self._model.families.get(info.name)
        if family is None:
            # Known at once: without series it shows nothing, should the report not be stored after all.
            with self._model.lock:
                return self._model.add_family(Family(info.name, kind, info.help, buckets))
        return family if (family.kind, family.buckets) == (kind, buckets) else None

    def _sort_in(self, family: Family, text: str, named: Named, labels: Labels | None, values: Vector) -> None:
        self.by_kind[family.kind] = self.by_kind.get(family.kind, 0) + 1
        key = (family.name, text, named)
        part = self._source.parts.get(key)
        if part is not None:
            self.known.append((part, values))
            return
        before = self.new.get(key)
        if before is not None:
            self.new[key] = (before[0], values)
            return
        if labels is not None:
            check_labels(labels)
        self.new[key] = (Part(family, text, named, self._next_number), values)
        if family.kind != "gauge":
            self._next_number += 1

    def _check_limits(self, settings: Settings) -> None:
        of_source = len(self._source.parts) + len(self.new)
        if of_source > settings.max_series_per_source:
            raise too_many_series(of_source, settings)
        if self.new and self._model.parts + len(self.new) > settings.max_series:
            sentence = f"The collector holds {self._model.parts} series of at most {settings.max_series}; try later."
            raise Refused(429, "series_total", sentence)

    def _plan_families(self, plan: Plan) -> None:
        families = {part.family for part, _ in self.new.values() if not part.family.saved}
        for family in families:
            if family.kind != "gauge":
                row = (family.name, family.kind, family.help, _encode(family.buckets))
                plan.sql("INSERT OR REPLACE INTO families VALUES (?, ?, ?, ?)", row)
                plan.then(partial(setattr, family, "saved", True))

    def _pages(self) -> Iterator[tuple[int, list[Vector]]]:
        """The rows of totals that change, whole."""
        numbered = self._source.numbered
        changed = {part.number: values for part, values in self.known if part.family.kind != "gauge"}
        added = {part.number: values for part, values in self.new.values() if part.family.kind != "gauge"}
        changed.update(added)
        for page in sorted({number_ // PAGE for number_ in changed}):
            stop = min((page + 1) * PAGE, self._next_number)
            numbers = range(page * PAGE, stop)
            yield page, [changed[one] if one in changed else numbered[one].values for one in numbers]

    def _split(self, labels: Labels) -> tuple[str, Named]:
        """The labels as text without the run's, and the run's if there are some."""
        if not labels:
            return "", None
        key = tuple(labels.items())
        known = self._texts.get(key)  # most series of a report have the same few sets of labels
        if known is None:
            own = {name: value for name, value in key if name not in RUN_LABELS}
            named = None if len(own) == len(key) else (labels.get(_PROJECT), labels.get(_EXPERIMENT))
            known = self._texts[key] = label_text(without_empty(own)), named
        return known
