"""Turns a table of exposed metrics and what a target has done into series."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dashboards_src.catalog.exposed import ExposedMetric

from .openmetrics import Exposition, Values

Labels = Mapping[str, str]
Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Log-normal observations, one for each unit of the basis times `rate`."""

    median: float
    sigma: float
    bounds: Sequence[float]
    basis: str = "requests"
    rate: float = 1.0
    seconds: bool = True

    def shares(self, slowdown: float) -> dict[float, float]:
        """The share of observations up to each bound."""
        median = self._median(slowdown)
        return {
            bound: 0.5 * (1 + math.erf(math.log(bound / median) / (self.sigma * math.sqrt(2)))) for bound in self.bounds
        }

    def mean(self, slowdown: float) -> float:
        return self._median(slowdown) * math.exp(self.sigma**2 / 2)

    def _median(self, slowdown: float) -> float:
        return self.median * slowdown if self.seconds else self.median


@dataclass(frozen=True, slots=True)
class Load:
    """What one target has done at each tick, by basis; None while it is down.

    A basis that only rises feeds counters and histograms, any may feed a gauge.
    """

    bases: Mapping[str, Values]
    slowdown: float = 1.0

    def __getitem__(self, basis: str) -> Values:
        return self.bases[basis]


@dataclass(frozen=True, slots=True)
class Profile:
    """How the metrics of one kind of target follow from its load.

    `values` gives for a metric, or for a metric and the value of one of its labels
    (`name|value`), the basis and the factor. `labels` gives the values of a label, or of
    one metric's label (`name|label`), each with its share of the metric's value. `combos`
    sets a metric's label sets outright. What is not named has a small default.
    """

    values: Mapping[str, tuple[str, float]]
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    labels: Mapping[str, Shares] = field(default_factory=dict)
    combos: Mapping[str, Sequence[Labels]] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)

    def label_sets(self, metric: ExposedMetric) -> list[tuple[dict[str, str], float]]:
        """The metric's own label sets, each with the share of the value it has."""
        if metric.name in self.combos:
            return [({**self._fixed(metric), **combo}, 1.0) for combo in self.combos[metric.name]]
        open_labels = [label for label in metric.labels if label not in self.fixed]
        choices = [self._shares(metric, label).items() for label in open_labels]
        result = []
        for picked in itertools.product(*choices):
            labels = dict(zip(open_labels, (value for value, _ in picked), strict=True))
            result.append(({**self._fixed(metric), **labels}, math.prod(share for _, share in picked)))
        return result

    def basis(self, metric: ExposedMetric, labels: Labels) -> tuple[str, float]:
        for value in labels.values():
            if f"{metric.name}|{value}" in self.values:
                return self.values[f"{metric.name}|{value}"]
        return self.values.get(metric.name, ("requests", 0.01) if metric.type == "counter" else ("zero", 1.0))

    def _fixed(self, metric: ExposedMetric) -> dict[str, str]:
        return {label: self.fixed[label] for label in metric.labels if label in self.fixed}

    def _shares(self, metric: ExposedMetric, label: str) -> Shares:
        return self.labels.get(f"{metric.name}|{label}") or self.labels.get(label) or {"default": 1.0}


_ANY = Distribution(1.0, 1.0, (0.1, 1.0, 10.0))


def emit(
    out: Exposition,
    metrics: Iterable[ExposedMetric],
    profile: Profile,
    load: Load,
    target: Labels,
    extra: Callable[[ExposedMetric], Labels] = lambda metric: {},
) -> None:
    """Writes every metric's series; `extra` gives labels that the table does not know."""
    for metric in metrics:
        for own, share in profile.label_sets(metric):
            _emit_one(out, metric, profile, load, share, {**target, **extra(metric), **own})


def _emit_one(
    out: Exposition, metric: ExposedMetric, profile: Profile, load: Load, share: float, labels: Labels
) -> None:
    if metric.type in ("histogram", "summary"):
        distribution = profile.distributions.get(metric.name, _ANY)
        counts = _scaled(load[distribution.basis], distribution.rate * share)
        mean = distribution.mean(load.slowdown)
        if metric.type == "histogram":
            out.histogram(metric.name, labels, counts, mean, distribution.shares(load.slowdown))
        else:
            out.summary(metric.name, labels, counts, mean)
        return
    basis, factor = profile.basis(metric, labels)
    values = _scaled(load[basis], factor * share)
    if metric.type == "counter":
        out.counter(metric.name, labels, [None if v is None else _whole(v) for v in values])
    else:
        out.gauge(metric.name, labels, values)


def _scaled(values: Values, factor: float) -> list[float | None]:
    return [None if value is None else value * factor for value in values]


def _whole(value: float) -> float:
    """Large counts without a fraction: shorter to write and to read."""
    return int(value) if value > 1000 else round(value, 3)
