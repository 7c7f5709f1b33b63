"""Where a step's time goes: seconds of each stage, summed over the mini-batches that it runs one by one."""

from .metric import Metric

_V1 = "verl verl/trainer/ppo/v1/trainer_base.py"
_V1_DOC = "verl docs/advance/v1_async_trainer.md"
_OLDER = "verl verl/trainer/ppo/ray_trainer.py"
_ONE_STEP = "verl verl/experimental/one_step_off_policy/ray_trainer.py"
_FULLY_ASYNC = "verl verl/experimental/fully_async_policy/fully_async_trainer.py"
_SAMPLES = "verl verl/experimental/fully_async_policy/detach_utils.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "timing_s/step",
        "Step time",
        "s",
        "Wall time of a training step. Validation is outside; saving a checkpoint is inside, except in the "
        "one-step and fully async trainers.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/gen",
        "Generation, or the wait for it",
        "s",
        "Synchronous: time until the batch is generated, paced by the longest response. Async: only the "
        "trainer's wait for samples, so idle training GPUs; if that lasts, rollout needs more of them.",
        better="lower",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/generate_async",
        "Background generation of a batch",
        "s",
        "One-step-off training: how long the batch took to generate while the step before it trained. It "
        "overlaps with that step and is no part of step time.",
        better="lower",
        source=_ONE_STEP,
    ),
    Metric(
        "timing_s/reward",
        "Reward computation",
        "s",
        "Time of the reward stage. Trainer v1 has it with a colocated reward model alone; rewards that are "
        "computed while rollout streams are part of generation.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/old_log_prob",
        "Old log-probs",
        "s",
        "Time of the actor's forward pass that recomputes log-probs of the samples; in bypass mode next to "
        "nothing or absent. In separate async training it includes moving the old weights in and out.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/ref",
        "Reference log-probs",
        "s",
        "Time of the reference policy's forward pass; only when a KL term needs it.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/values",
        "Value estimates",
        "s",
        "Time of the value model's forward pass; only with a value model.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/adv",
        "Advantage computation",
        "s",
        "Time of KL penalty, rollout correction and advantages, on the controller. A long time here is CPU "
        "and data movement, not GPU.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/update_critic",
        "Update of the value model",
        "s",
        "Time of the value model's update; only with a value model.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/update_actor",
        "Update of the actor",
        "s",
        "Time of the actor's forward, backward and optimizer steps; absent while the value model warms up.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/update_weights",
        "Weight sync to the engines",
        "s",
        "Time to hand the new weights to the inference engines and wake them (synchronous and colocated) or "
        "to send them to the standalone replicas (separate async).",
        better="lower",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/sync_rollout_weights",
        "Weight sync before the next generation",
        "s",
        "One-step-off training: time of the weight sync between a finished batch and the start of the next. "
        "timing_s/update_weights is the same time once more.",
        better="lower",
        source=_ONE_STEP,
    ),
    Metric(
        "timing_s/param_sync",
        "Parameter sync of the fully async trainer",
        "s",
        "Time of the weight sync from trainer to rollouter. The code of August 2026 logs it as "
        "timing_s/timing_s/param_sync, so this series may be empty.",
        better="lower",
        source=_FULLY_ASYNC,
    ),
    Metric(
        "timing_s/timing_s/param_sync",
        "Parameter sync, under its doubled name",
        "s",
        "Fully async training: time of the weight sync from trainer to rollouter, activation of hybrid "
        "replicas included. The prefix is doubled in verl.",
        better="lower",
        source=_FULLY_ASYNC,
    ),
    Metric(
        "timing_s/switch_to_rollout",
        "Switch of trainer GPUs to rollout",
        "s",
        "Separate async with switching: joining the load balancer, clearing its sticky cache, loading "
        "weights and resuming generation on the trainer's GPUs.",
        better="lower",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/switch_to_trainer",
        "Switch of trainer GPUs back to training",
        "s",
        "Separate async: leaving the load balancer, aborting requests and putting the engines on the "
        "trainer's GPUs to sleep.",
        better="lower",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/switch_wait",
        "Trainer GPUs lent to rollout",
        "s",
        "Separate async with switching: time in which the trainer's GPUs help generate until enough samples "
        "are ready. They work, so this is not idle time.",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/wait_for_enough_samples",
        "Hybrid GPUs in rollout, fully async",
        "s",
        "Fully async with dynamic scheduling: time in which the trainer's GPUs generate until enough "
        "samples are queued; 0 in updates without it.",
        source="verl docs/advance/dynamic_schedule.md",
    ),
    Metric(
        "timing_s/save_checkpoint",
        "Saving a checkpoint",
        "s",
        "Time to save model, optimizer and data state, in the steps that save. Training stands still meanwhile.",
        better="lower",
        source=_V1,
    ),
    Metric(
        "timing_s/testing",
        "Validation",
        "s",
        "Time of validation, outside the step. In the async modes training samples still being generated "
        "share the engines, so it is not the time of validation alone.",
        better="lower",
        source=_V1_DOC,
    ),
    Metric(
        "timing_s/dump_rollout_generations",
        "Dumping generations",
        "s",
        "Time to collect prompts and responses for rollout_data_dir; the older trainers log it, inside the "
        "step. Trainer v1 takes it too late to be logged.",
        better="lower",
        source=_OLDER,
    ),
    Metric(
        "timing_s/start_profile",
        "Starting the profiler",
        "s",
        "Time to start profiling, before the step; near 0 in steps that are not profiled. Older trainers only.",
        better="lower",
        source=_OLDER,
    ),
    Metric(
        "timing_s/stop_profile",
        "Stopping the profiler",
        "s",
        "Time to stop profiling and run its finish command, after the step; near 0 in steps that are not "
        "profiled. Older trainers only.",
        better="lower",
        source=_OLDER,
    ),
    Metric(
        "timing_s/agent_loop/tool_calls/max",
        "Longest tool time of a trajectory",
        "s",
        "Most time that a trajectory of the batch spent in tool calls. Within generation, not beside it; "
        "close to timing_s/gen, one slow tool holds up the step.",
        better="lower",
        source=_SAMPLES,
    ),
    Metric(
        "timing_s/agent_loop/tool_calls/mean",
        "Mean tool time of a trajectory",
        "s",
        "Time that a trajectory of the batch spent in tool calls, averaged. Part of generation.",
        better="lower",
        source=_SAMPLES,
    ),
    Metric(
        "timing_s/agent_loop/tool_calls/min",
        "Shortest tool time of a trajectory",
        "s",
        "Least time that a trajectory of the batch spent in tool calls. Part of generation.",
        better="lower",
        source=_SAMPLES,
    ),
)
