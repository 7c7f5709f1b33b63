"""The metrics that verl's trainer logs: what each is called, what it means, when it is wrong.

To add one, add a `Metric` to the file of its family.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from . import (
    actor,
    critic,
    distillation,
    fully_async,
    lengths,
    perf,
    precision,
    rollout,
    rollout_corr,
    separate_async,
    timing,
    timing_per_token,
    training,
    validation,
)
from .metric import NAMESPACE, Better, Healthy, Metric
from .validation import FAMILIES as VALIDATION_FAMILIES
from .validation import STATISTICS as VALIDATION_STATISTICS
from .validation import Statistic, ValidationFamily

__all__ = [
    "BY_KEY",
    "BY_NAME",
    "FAMILIES",
    "NAMESPACE",
    "TRAINER_METRICS",
    "VALIDATION_FAMILIES",
    "VALIDATION_STATISTICS",
    "Better",
    "Family",
    "Healthy",
    "Metric",
    "Statistic",
    "ValidationFamily",
    "index",
]


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics that belong together, and what to know of all of them."""

    title: str
    note: str
    metrics: tuple[Metric, ...]


FAMILIES: tuple[Family, ...] = (
    Family("Run", "Progress, and what happened to samples on their way into the batch.", training.METRICS),
    Family("Validation", "The fixed ones; results by data source are described below.", validation.METRICS),
    Family(
        "Rewards and value model",
        "verl logs scores, rewards, advantages and returns under `critic/` with or without a value model.",
        critic.METRICS,
    ),
    Family("Actor", "Losses, how far an update moves the policy, and what it costs.", actor.METRICS),
    Family(
        "Precision",
        "Whether inference engine and actor agree on probabilities. Logged with "
        "`actor_rollout_ref.rollout.calculate_log_probs=True`, not in bypass mode.",
        precision.METRICS,
    ),
    Family(
        "Rollout correction",
        "Distance of the policy that sampled from the policy that trains. Logged with rollout correction; "
        "in bypass mode the actor works these out and the key starts with `actor/`.",
        rollout_corr.METRICS,
    ),
    Family(
        "Distillation",
        "On-policy distillation. The trainer logs the keys that start with `actor/`.",
        distillation.METRICS,
    ),
    Family(
        "Lengths and turns",
        "Tokens and turns of the batch, and how evenly data-parallel ranks share them.",
        lengths.METRICS,
    ),
    Family("Rollout", "Speculative decoding and expert routing as the trainer sees them.", rollout.METRICS),
    Family("Performance", "Throughput, utilisation, memory.", perf.METRICS),
    Family(
        "Stage times",
        "Seconds of each stage of a step, summed over the mini-batches that it runs one by one. Not all are "
        "disjoint: the meaning says what lies within another or outside the step.",
        timing.METRICS,
    ),
    Family("Stage times per token", "Stage times divided by tokens.", timing_per_token.METRICS),
    Family(
        "Separate async switching",
        "Logged by the separate async trainer with `hybrid_rollout.enable_switch=True`.",
        separate_async.METRICS,
    ),
    Family(
        "Fully async",
        "Logged by the fully async trainer, once for each weight version. What counts up starts at 0 with the process.",
        fully_async.METRICS,
    ),
)

TRAINER_METRICS: tuple[Metric, ...] = tuple(metric for family in FAMILIES for metric in family.metrics)


def index(metrics: Iterable[Metric], by: Callable[[Metric], str]) -> Mapping[str, Metric]:
    """Metrics by what `by` reads from them; two that read the same are a mistake in the catalog."""
    found: dict[str, Metric] = {}
    for metric in metrics:
        read = by(metric)
        if read in found:
            raise ValueError(
                f"The metric catalog has {read!r} twice, for the keys {found[read].key!r} and {metric.key!r}: "
                "remove or rename one."
            )
        found[read] = metric
    return MappingProxyType(found)


BY_KEY = index(TRAINER_METRICS, lambda metric: metric.key)
BY_NAME = index(TRAINER_METRICS, lambda metric: metric.name)
index(TRAINER_METRICS, lambda metric: metric.title)
