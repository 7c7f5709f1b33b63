"""Where the run is, and what happened to the samples on their way into the batch."""

from .metric import Metric

_TRAINER = "verl verl/trainer/ppo/v1/trainer_base.py"
_BUFFER = "verl verl/trainer/ppo/v1/replay_buffer.py"
_DOC = "verl docs/advance/v1_async_trainer.md"

METRICS: tuple[Metric, ...] = (
    Metric(
        "training/global_step",
        "Training step",
        "none",
        "Number of the current training step. In fully async training it counts the trainer's updates, of "
        "which several make one weight version. It stands still when a run hangs.",
        source=_TRAINER,
    ),
    Metric(
        "training/epoch",
        "Epoch",
        "none",
        "Number of the current pass over the training data, counted from 0.",
        source=_TRAINER,
    ),
    Metric(
        "training/filter_groups/evicted_samples",
        "Groups filtered for lack of signal",
        "short",
        "Prompt groups of this step dropped by DAPO's filter because all their responses had the same value "
        "of the filter metric; each is replaced by fresh prompts. Many mean that prompts are too easy or "
        "too hard, and cost generation time.",
        better="lower",
        source=_BUFFER,
    ),
    Metric(
        "training/filter_groups/discarded_surplus_samples",
        "Surplus groups thrown away by the filter",
        "short",
        "Finished prompt groups of this step that synchronous DAPO generated to spare and threw away once "
        "the batch was full. A lower max_inflight_gen_batches trades this waste for waiting.",
        better="lower",
        source=_BUFFER,
    ),
    Metric(
        "training/filter_groups/filtered_reward_counts",
        "Filtered groups by their common reward",
        "none",
        "How many filtered groups shared which reward. verl sends it to W&B alone, as a table: as a number "
        "it does not exist, and this series stays empty.",
        source="verl verl/utils/tracking.py",
    ),
    Metric(
        "training/rollout_failure/evicted_samples",
        "Groups dropped because their rollout failed",
        "short",
        "Prompt groups of this step dropped and replaced because at least one of their rollouts failed. Any "
        "steady number is an error in agent loop, tools or engine to be found in the logs.",
        better="lower",
        source=_BUFFER,
    ),
    Metric(
        "training/off_policy/evicted_samples",
        "Groups dropped as too old",
        "short",
        "Prompt groups of this step dropped and replaced because they were older than "
        "max_off_policy_threshold weight versions, with max_off_policy_strategy=drop. Many mean that "
        "rollout runs too far ahead of training.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/evicted_samples_staleness/mean",
        "Mean age of groups dropped as too old",
        "short",
        "Age in weight versions, from dispatch and counted from 1, of the groups dropped as too old, averaged.",
        source=_BUFFER,
    ),
    Metric(
        "training/off_policy/evicted_samples_staleness/max",
        "Highest age of groups dropped as too old",
        "short",
        "Highest age in weight versions of a group dropped as too old. Far over max_off_policy_threshold, "
        "single prompts take many steps to finish.",
        source=_BUFFER,
    ),
    Metric(
        "training/off_policy/evicted_samples_staleness/min",
        "Lowest age of groups dropped as too old",
        "short",
        "Lowest age in weight versions of a group dropped as too old.",
        source=_BUFFER,
    ),
    Metric(
        "training/off_policy/trajectory_spans/mean",
        "Mean weight versions in a trajectory",
        "short",
        "Weight versions between a trajectory's first and last token, both counted, averaged; 1 when no "
        "weight sync fell into its generation. Growth means that generation outlasts several steps.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_spans/max",
        "Most weight versions in a trajectory",
        "short",
        "Most weight versions from first to last token of a trajectory in the batch.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_spans/min",
        "Fewest weight versions in a trajectory",
        "short",
        "Fewest weight versions from first to last token of a trajectory in the batch; above 1 every sample "
        "crossed a weight sync.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness/mean",
        "Mean staleness of trajectories",
        "short",
        "Weight versions from the newest weights a trajectory used to those now trained, averaged: how "
        "off-policy the batch is at least. 0 in synchronous training.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness/max",
        "Highest staleness of a trajectory",
        "short",
        "Largest distance in weight versions from the newest weights that a trajectory of the batch used.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness/min",
        "Lowest staleness of a trajectory",
        "short",
        "Smallest distance in weight versions from the newest weights that a trajectory of the batch used.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness_worst/mean",
        "Mean worst-case staleness of trajectories",
        "short",
        "Weight versions from the oldest weights a trajectory used to those now trained, averaged: how "
        "off-policy its first tokens are.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness_worst/max",
        "Highest worst-case staleness of a trajectory",
        "short",
        "Largest distance in weight versions from the oldest weights that a trajectory of the batch used. "
        "Compare with max_off_policy_threshold (8 unless configured).",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "training/off_policy/trajectory_staleness_worst/min",
        "Lowest worst-case staleness of a trajectory",
        "short",
        "Smallest distance in weight versions from the oldest weights that a trajectory of the batch used.",
        better="lower",
        source=_DOC,
    ),
)
