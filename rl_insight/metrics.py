"""The series of one source: gauges, counters and histograms, updated in memory.

A call finds its series by the name and labels exactly as they were given, in one dictionary.
Only what is not found there is checked, sanitised and made, on the slow path.
"""

import threading
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from time import monotonic_ns

from rl_insight.faults import Refused
from rl_insight.names import MAX_HELP, LabelSet, label_set, metric_name, shown, text

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""Upper bounds of a histogram's buckets; one more takes what is above."""

MAX_SERIES = 10_000
"""Series of one process, unless configured otherwise."""

_PLAIN_TYPES = frozenset({str, int, bool, type(None)})
"""Types of label values of which equal ones read the same, so that a series can be found by them."""


class Series:
    """One label set of a metric.

    `changed` says whether it was updated since it was last reported; `labels_json` is a place
    where the reporter keeps its text.
    """

    __slots__ = ("changed", "labels", "labels_json", "lock")

    kind = ""
    suffix = ""
    claims: tuple[str, ...] = ("",)
    """Suffixes of the sample names under which a metric of this kind may be exposed."""

    def __init__(self, labels: LabelSet, lock: threading.RLock) -> None:
        self.labels = labels
        self.labels_json = ""
        self.lock = lock
        self.changed = False

    @abstractmethod
    def update(self, value: float) -> None:
        """Takes a value in. Raises what `float` raises, and ValueError for what this kind cannot take."""


class Gauge(Series):
    """The last value, and the monotonic nanoseconds at which it was set."""

    __slots__ = ("point",)

    kind = "gauge"

    def __init__(self, labels: LabelSet, lock: threading.RLock) -> None:
        super().__init__(labels, lock)
        self.point = (0.0, 0)

    def update(self, value: float) -> None:
        # Two single stores in this order need no lock: who clears the flag and then reads misses nothing.
        self.point = (value if value.__class__ is float else float(value), monotonic_ns())
        self.changed = True


class Counter(Series):
    """The total since the source began."""

    __slots__ = ("total",)

    kind = "counter"
    suffix = "_total"
    claims = ("", "_total")

    def __init__(self, labels: LabelSet, lock: threading.RLock) -> None:
        super().__init__(labels, lock)
        self.total = 0.0

    def update(self, value: float) -> None:
        amount = value if value.__class__ is float else float(value)
        if not amount >= 0.0:
            raise ValueError("a counter takes amounts of 0 and more")
        with self.lock:
            self.total += amount
            self.changed = True


class Histogram(Series):
    """How many values fell into each bucket since the source began, and their sum."""

    __slots__ = ("counts", "sum")

    kind = "histogram"
    claims = ("", "_bucket", "_sum", "_count")

    def __init__(self, labels: LabelSet, lock: threading.RLock) -> None:
        super().__init__(labels, lock)
        self.counts = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def update(self, value: float) -> None:
        number = value if value.__class__ is float else float(value)
        # NaN is below no bound, but bisect would take it for below all of them.
        place = bisect_left(BUCKETS, number) if number == number else -1
        with self.lock:
            self.counts[place] += 1
            self.sum += number
            self.changed = True


class Family:
    """A metric: its kind, its name without namespace and suffix, and its series by their labels."""

    __slots__ = ("help", "kind", "name", "series")

    def __init__(self, kind: type[Series], name: str, documentation: object) -> None:
        self.kind = kind
        self.name = name
        self.help = text(documentation)[:MAX_HELP]
        self.series: dict[LabelSet, Series] = {}


class Metrics:
    """All series of one source.

    `gauges`, `counters` and `histograms` lead from a call's name and labels, as given, to the
    series. They are bounded; to forget what is in them costs time only.
    """

    __slots__ = ("_families", "_lock", "_owners", "_refuse", "_size", "counters", "gauges", "histograms", "max_series")

    def __init__(self, lock: threading.RLock, refuse: Callable[[Refused], None], max_series: int) -> None:
        self.gauges: dict[object, Series] = {}
        self.counters: dict[object, Series] = {}
        self.histograms: dict[object, Series] = {}
        self.max_series = max_series
        self._lock = lock
        self._refuse = refuse
        self._families: list[Family] = []
        self._owners: dict[str, Family] = {}
        self._size = 0

    def families(self) -> list[Family]:
        """A copy of the list of metrics."""
        return list(self._families)

    def update(
        self, kind: type[Series], name: object, value: object, documentation: object, labels: Mapping[str, object]
    ) -> None:
        """The slow path of a call. Refuses what cannot be reported; never raises."""
        try:
            number = _number(name, value)
            self._find(kind, name, documentation, labels).update(number)
        except Refused as refused:
            self._refuse(refused)
        except ValueError as error:
            self._refuse(Refused("bad_value", f"{shown(name)} was given {number}, but {error}"))
        except Exception as error:  # a label's own __str__ may raise anything
            self._refuse(Refused("bad_label", f"a label of {shown(name)} raised {type(error).__name__}: {error}"))

    def _find(self, kind: type[Series], name: object, documentation: object, labels: Mapping[str, object]) -> Series:
        cache = self._cache(kind)
        key = _key(name, labels)
        if key is not None and (known := cache.get(key)):
            return known
        base = metric_name(name).removesuffix(kind.suffix)
        exposed = label_set(labels, self._refuse)
        with self._lock:
            series = self._series(self._family(kind, base, documentation), exposed)
            if key is not None:
                if len(cache) >= 2 * self.max_series:
                    cache.clear()
                cache[key] = series
        return series

    def _cache(self, kind: type[Series]) -> dict[object, Series]:
        if kind is Gauge:
            return self.gauges
        return self.counters if kind is Counter else self.histograms

    def _family(self, kind: type[Series], base: str, documentation: object) -> Family:
        """The metric of that name, made if need be. Raises Refused where another kind holds the name."""
        samples = [base + suffix for suffix in kind.claims]
        owners = [owner for sample in samples if (owner := self._owners.get(sample))]
        for owner in owners:
            if owner.kind is not kind or owner.name != base:
                raise Refused(
                    "type_conflict", f"{base!r} as a {kind.kind} clashes with the {owner.kind.kind} {owner.name!r}"
                )
        if owners:
            return owners[0]
        if self._size >= self.max_series:
            raise Refused("series_limit", _FULL.format(self.max_series))
        family = Family(kind, base, documentation)
        self._families.append(family)
        self._owners.update(dict.fromkeys(samples, family))
        return family

    def _series(self, family: Family, labels: LabelSet) -> Series:
        """The series with these labels, made if need be. Raises Refused where there are too many."""
        known = family.series.get(labels)
        if known is not None:
            return known
        if self._size >= self.max_series:
            raise Refused("series_limit", _FULL.format(self.max_series))
        self._size += 1
        series = family.series[labels] = family.kind(labels, self._lock)
        return series


_FULL = "this process has {} series, which is its limit (RL_INSIGHT_MAX_SERIES)"


def _key(name: object, labels: Mapping[str, object]) -> object:
    """What a call's series is found by in the cache; None where labels may read differently though equal."""
    if not isinstance(name, str):
        return None
    if not labels:
        return name
    types = [type(value) for value in labels.values()]
    if not _PLAIN_TYPES.issuperset(types):
        return None
    key = (name, *labels, *labels.values())
    # Equal values of other types, like 1 and True, read differently: only strings stand for themselves.
    return key if all(type_ is str for type_ in types) else (*key, *types)


def _number(name: object, value: object) -> float:
    """The value as a number: whatever `float` takes, like a tensor of one element. Raises Refused."""
    try:
        return float(value)  # type: ignore[arg-type]
    except Exception as error:  # a tensor's own __float__ may raise anything
        raise Refused("bad_value", f"{shown(name)} was given {shown(value)}, which is no number") from error
