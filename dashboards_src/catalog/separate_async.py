"""Lending trainer GPUs to rollout between steps: separate async with `hybrid_rollout.enable_switch`."""

from .metric import Metric

_DOC = "verl docs/advance/v1_async_trainer.md"
_CODE = "verl verl/trainer/ppo/v1/trainer_separate_async.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "separate_async/switch/threshold_ratio",
        "Batch share at which GPUs return to training",
        "percentunit",
        "Share of the training batch that must be ready before lent GPUs go back to training. Adaptive: it "
        "rises while the trainer idles and falls while it does not.",
        source=_DOC,
    ),
    Metric(
        "separate_async/switch/wait_samples",
        "Prompt groups the trainer had to wait for",
        "short",
        "Prompt groups missing when the trainer asked for its mini-batches, summed over the step.",
        better="lower",
        source=_CODE,
    ),
    Metric(
        "separate_async/switch/idle",
        "Trainer idled in this step",
        "none",
        "1 when the trainer waited for samples longer than one poll of the replay buffer, else 0.",
        better="lower",
        source=_CODE,
    ),
    Metric(
        "separate_async/decision/sampleable_count",
        "Prompt groups ready for the next step",
        "short",
        "Prompt groups ready to be trained when the step ends; the decision to lend GPUs compares it with "
        "the threshold.",
        source=_CODE,
    ),
    Metric(
        "separate_async/decision/remaining",
        "Prompt groups missing for the next step",
        "short",
        "Prompt groups that the threshold still lacks when the step ends; 0 needs no lending.",
        better="lower",
        source=_CODE,
    ),
    Metric(
        "separate_async/decision/should_switch_to_rollout",
        "Trainer GPUs are lent to rollout",
        "none",
        "1 when the trainer's GPUs are lent to rollout for the coming step, else 0.",
        source=_CODE,
    ),
    Metric(
        "separate_async/decision/per_sample_time_seconds",
        "Wait for one prompt group",
        "s",
        "Time the trainer has waited for samples so far, divided by the groups it waited for; from it the "
        "gain of lending is estimated.",
        better="lower",
        source=_CODE,
    ),
    Metric(
        "separate_async/decision/effective_switch_cost_seconds",
        "Cost of lending the trainer's GPUs",
        "s",
        "Recent mean time of a switch to rollout plus one back to training. GPUs are lent when the expected "
        "gain is larger.",
        better="lower",
        source=_CODE,
    ),
)
