"""Writes the samples of many series as one OpenMetrics file, as `promtool tsdb` backfills it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Values = Sequence[float | None]
"""One value for each tick of the history; None where the target was not scraped."""

_SUFFIXES = {"counter": "_total"}


def number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.7g}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Exposition:
    """Series over a fixed row of timestamps, gathered by metric family."""

    def __init__(self, times: Sequence[int]) -> None:
        self.times = list(times)
        self.series = 0
        self.samples = 0
        self._ends = [f" {time}\n" for time in self.times]
        self._families: dict[str, list[str]] = {}
        self._types: dict[str, str] = {}

    def gauge(self, name: str, labels: Mapping[str, str], values: Values) -> None:
        # OpenMetrics keeps _total for counters, but TransferQueue and SGLang have gauges named so.
        self._add(name, "unknown" if name.endswith("_total") else "gauge", name, labels, values)

    def counter(self, name: str, labels: Mapping[str, str], values: Values) -> None:
        family = name.removesuffix("_total")
        if family == name:
            raise ValueError(f"the counter {name} does not end in _total")
        self._add(family, "counter", name, labels, values)

    def histogram(
        self,
        name: str,
        labels: Mapping[str, str],
        counts: Values,
        mean: float,
        shares: Mapping[float, float],
    ) -> None:
        """A histogram of `counts` observations so far, of which the share up to each bound is known."""
        for bound, share in shares.items():
            below = [None if count is None else int(count * share) for count in counts]
            self._add(name, "histogram", f"{name}_bucket", {**labels, "le": _bound(bound)}, below)
        whole = [None if count is None else int(count) for count in counts]
        self._add(name, "histogram", f"{name}_bucket", {**labels, "le": "+Inf"}, whole)
        self._add(name, "histogram", f"{name}_count", labels, whole)
        self._add(name, "histogram", f"{name}_sum", labels, [None if n is None else round(n * mean, 6) for n in whole])

    def summary(self, name: str, labels: Mapping[str, str], counts: Values, mean: float) -> None:
        whole = [None if count is None else int(count) for count in counts]
        self._add(name, "summary", f"{name}_count", labels, whole)
        self._add(name, "summary", f"{name}_sum", labels, [None if n is None else n * mean for n in whole])

    def write(self, path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            for family, lines in self._families.items():
                file.write(f"# TYPE {family} {self._types[family]}\n")
                file.writelines(lines)
            file.write("# EOF\n")

    def _add(self, family: str, type_: str, name: str, labels: Mapping[str, str], values: Values) -> None:
        known = self._types.setdefault(family, type_)
        if known != type_:
            raise ValueError(f"{family} is both {known} and {type_}")
        if len(values) != len(self._ends):
            raise ValueError(f"{name} has {len(values)} values for {len(self._ends)} timestamps")
        inner = ",".join(f'{key}="{_escape(value)}"' for key, value in labels.items())
        start = f"{name}{{{inner}}} "
        lines = [
            start + number(value) + end for value, end in zip(values, self._ends, strict=True) if value is not None
        ]
        self._families.setdefault(family, []).extend(lines)
        self.series += 1
        self.samples += len(lines)


def _bound(bound: float) -> str:
    return repr(float(bound))


def constant(value: float, like: Iterable[float | None]) -> list[float | None]:
    """The value wherever `like` was scraped."""
    return [None if other is None else value for other in like]
