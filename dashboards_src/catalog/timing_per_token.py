"""Stage times divided by tokens, so that batches of different length can be compared."""

from .metric import Metric

_DATA = "verl verl/trainer/ppo/metric_utils.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "timing_per_token_ms/gen",
        "Generation time per token",
        "ms",
        "timing_s/gen divided by the batch's response tokens: a generation speed that response length does not blur.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "timing_per_token_ms/ref",
        "Reference log-prob time per token",
        "ms",
        "timing_s/ref divided by the batch's prompt and response tokens.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "timing_per_token_ms/values",
        "Value estimate time per token",
        "ms",
        "timing_s/values divided by the batch's prompt and response tokens; only with a value model.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "timing_per_token_ms/adv",
        "Advantage time per token",
        "ms",
        "timing_s/adv divided by the batch's prompt and response tokens.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "timing_per_token_ms/update_critic",
        "Value model update time per token",
        "ms",
        "timing_s/update_critic divided by the batch's prompt and response tokens; only with a value model.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "timing_per_token_ms/update_actor",
        "Actor update time per token",
        "ms",
        "timing_s/update_actor divided by the batch's prompt and response tokens. Rising at the same "
        "lengths, the update itself has become slower.",
        better="lower",
        source=_DATA,
    ),
)
