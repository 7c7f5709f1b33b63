"""Validation: a few fixed metrics, and families whose members depend on data sources and reward functions."""

from dataclasses import dataclass

from .metric import Metric

_TRAINER = "verl verl/trainer/ppo/v1/trainer_base.py"


@dataclass(frozen=True, slots=True)
class ValidationFamily:
    """Validation metrics of one kind.

    `key` is verl's pattern and `example` a real key of it; `name_pattern` is a regular expression that
    matches the whole of every exposed name of the family.
    """

    key: str
    example: str
    name_pattern: str
    title: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Statistic:
    """The last part of a validation key: what is made of the N responses to a prompt."""

    pattern: str
    meaning: str


FAMILIES: tuple[ValidationFamily, ...] = (
    ValidationFamily(
        key="val-core/<data source>/<variable>/<statistic>",
        example="val-core/openai/gsm8k/acc/mean@1",
        name_pattern="rl_insight_monitor_val_core_.+",
        title="Core validation results",
        meaning="What to judge a run by: for each data source the accuracy (variable acc) where the reward "
        "function reports one, else the reward; of the statistics mean, maj and best, at the largest N "
        "alone. It should rise; a training score that rises without it does not carry over.",
        source=_TRAINER,
    ),
    ValidationFamily(
        key="val-aux/<data source>/<variable>/<statistic>",
        example="val-aux/openai/gsm8k/reward/std@4",
        name_pattern="rl_insight_monitor_val_aux_.+",
        title="Further validation results",
        meaning="All else that validation yields: other variables that the reward function reports, spread "
        "and worst results, and smaller N. For a closer look once a core result surprises.",
        source=_TRAINER,
    ),
)

STATISTICS: tuple[Statistic, ...] = (
    Statistic("mean@N", "mean over the N responses to a prompt, then over prompts"),
    Statistic("std@N", "standard deviation over the N responses to a prompt, averaged over prompts"),
    Statistic(
        "best@n/mean, best@n/std",
        "best of n responses drawn from the N (n = 2, 4, ... N): mean and spread over 1000 bootstrap draws",
    ),
    Statistic("worst@n/mean, worst@n/std", "worst of n responses, by the same draws"),
    Statistic(
        "maj@n/mean, maj@n/std",
        "result of the majority's answer among n responses, by the same draws; where answers (pred) are reported",
    ),
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "val-aux/num_turns/mean",
        "Mean turns of a validation sample",
        "short",
        "Chat turns of a validation sample (user, assistant and tool), averaged; 2 without tools.",
        source=_TRAINER,
    ),
    Metric(
        "val-aux/num_turns/max",
        "Most turns of a validation sample",
        "short",
        "Most chat turns of a validation sample. At the configured maximum, conversations are cut off.",
        source=_TRAINER,
    ),
    Metric(
        "val-aux/num_turns/min",
        "Fewest turns of a validation sample",
        "short",
        "Fewest chat turns of a validation sample.",
        source=_TRAINER,
    ),
)
