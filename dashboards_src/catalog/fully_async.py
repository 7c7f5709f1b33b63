"""Fully async training: rollouter and trainer on devices of their own, a message queue between them."""

from .metric import Metric

_DOC = "verl docs/advance/fully_async.md"
_DYNAMIC = "verl docs/advance/dynamic_schedule.md"
_ROLLOUTER = "verl verl/experimental/fully_async_policy/fully_async_rollouter.py"
_TRAINER = "verl verl/experimental/fully_async_policy/fully_async_trainer.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "fully_async/trainer/idle_ratio",
        "Idle share of the trainer",
        "percentunit",
        "Time the trainer waited for samples as a share of step time. High while the rollouter's is low: "
        "move GPUs from training to rollout.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "fully_async/rollouter/idle_ratio",
        "Idle share of the rollouter",
        "percentunit",
        "Share of the last weight version's time in which the rollouter was paused, with a full queue or as "
        "many stale samples as staleness_threshold allows. High while the trainer's is low: move GPUs from "
        "rollout to training.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "fully_async/rollouter/active_time",
        "Active time of the rollouter",
        "s",
        "Time from the last weight sync until the rollouter paused, or until the next sync if it did not pause.",
        source=_ROLLOUTER,
    ),
    Metric(
        "fully_async/rollouter/version_time",
        "Time of a weight version",
        "s",
        "Time between two weight syncs as the rollouter sees it.",
        better="lower",
        source=_ROLLOUTER,
    ),
    Metric(
        "fully_async/rollouter/step_generated_samples",
        "Samples generated in a weight version",
        "short",
        "Samples that the rollouter finished between two weight syncs. Compare with what the trainer takes "
        "in that time: trigger_parameter_sync_step x require_batches x ppo_mini_batch_size.",
        better="higher",
        source=_DYNAMIC,
    ),
    Metric(
        "fully_async/total_wait_time",
        "Trainer's wait for samples",
        "s",
        "Time the trainer spent collecting samples from the queue, summed over the updates between two "
        "weight syncs. Long waits mean that rollout is too slow.",
        better="lower",
        source=_TRAINER,
    ),
    Metric(
        "fully_async/count/current_param_version",
        "Weight version of the trainer",
        "none",
        "Weight syncs to the rollouter so far; it grows by one every trigger_parameter_sync_step updates.",
        source=_TRAINER,
    ),
    Metric(
        "fully_async/count/total_generated_samples",
        "Samples generated so far",
        "short",
        "Samples that the rollouter has put into the queue since it started, except those for which the "
        "queue had to drop an older one.",
        better="higher",
        source=_ROLLOUTER,
    ),
    Metric(
        "fully_async/count/dropped_stale_samples",
        "Samples dropped from a full queue so far",
        "short",
        "Samples, since the rollouter started, that found the queue full, so that its oldest sample was "
        "dropped. verl expects that rarely; growth is generation wasted.",
        better="lower",
        source="verl verl/experimental/fully_async_policy/message_queue.py",
    ),
    Metric(
        "fully_async/count/stale_trajectory_processed",
        "Stale trajectories trained so far",
        "short",
        "Trajectories trained since the trainer started whose last token came from weights at least one "
        "version old. Its growth against the batch is the stale share; keep staleness_threshold below 1 to "
        "bound it.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "fully_async/count/stale_samples_processed",
        "Stale samples trained so far",
        "short",
        "Stale samples trained since the trainer started, a sample being rollout.n trajectories. "
        "Documented, but the code of August 2026 logs only the trajectories.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "fully_async/partial/partial_ratio",
        "Share of trajectories that cross a weight sync",
        "percentunit",
        "Share of trained trajectories generated with more than one weight version, between two weight "
        "syncs. It rises with longer responses and more frequent syncs.",
        source=_DOC,
    ),
    Metric(
        "fully_async/partial/total_partial_num",
        "Trajectories that cross a weight sync",
        "short",
        "Trained trajectories that were generated with more than one weight version, between two weight syncs.",
        source=_DOC,
    ),
    Metric(
        "fully_async/partial/max_partial_span",
        "Most weight syncs inside a trajectory",
        "short",
        "Largest distance in weight versions from first to last token of a trained trajectory; 0 when none "
        "crossed a weight sync.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "dynamic_resource/train_resource_utilization",
        "Compute share of the trainer's turn",
        "percentunit",
        "Time of reward, log-prob, value, advantage and update stages as a share of the time given to "
        "training, waiting and weight sync included, between two weight syncs.",
        better="higher",
        source=_DYNAMIC,
    ),
    Metric(
        "dynamic_resource/rollout_resource_utilization",
        "Share of rollout's capacity in use",
        "percentunit",
        "Samples in generation as a share of what the active replicas may take at once, weighted by time "
        "and capacity, between two weight syncs.",
        better="higher",
        source=_DYNAMIC,
    ),
    Metric(
        "dynamic_resource/resource_utilization",
        "Utilisation of all GPUs in the run",
        "percentunit",
        "Training and rollout utilisation, weighted by the GPU time each had. The two are not measured "
        "alike, so compare it with itself over time.",
        better="higher",
        source=_DYNAMIC,
    ),
    Metric(
        "dynamic_resource/mq_size",
        "Samples left in the message queue",
        "short",
        "Samples in the queue when the last update between two weight syncs ended. At its limit the "
        "rollouter pauses, at 0 the trainer waits.",
        source=_DYNAMIC,
    ),
)
