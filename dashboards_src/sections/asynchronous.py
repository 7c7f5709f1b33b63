"""What matters where rollout and training run at the same time: staleness, waiting, weight sync."""

from dashboards_src.scalars import scalar, scalars, spread
from generator.dashboard import Section

STALENESS = "Staleness of trajectories"

ASYNC = Section(
    "Async: staleness, waiting, weight sync",
    [
        spread(STALENESS, "training/off_policy/trajectory_staleness", width=8),
        spread("Worst-case staleness of trajectories", "training/off_policy/trajectory_staleness_worst", width=8),
        spread("Weight versions in a trajectory", "training/off_policy/trajectory_spans", width=8),
        scalars(
            "Idle share of trainer and rollouter",
            {"trainer": "fully_async/trainer/idle_ratio", "rollouter": "fully_async/rollouter/idle_ratio"},
            description="Share of time that each side waits for the other. If the trainer idles, rollout is too slow: "
            "give it devices. If the rollouter idles, it ran ahead as far as staleness_threshold lets it: "
            "give the trainer devices.",
            width=8,
        ),
        scalars(
            "Waiting for samples",
            {
                "fully async": "fully_async/total_wait_time",
                "generation stage": "timing_s/gen",
                "hybrid devices in rollout": "timing_s/wait_for_enough_samples",
            },
            description="How long the trainer waited for samples in a step (in async modes the generation stage is "
            "that wait), and how long its hybrid devices helped to generate.",
            width=8,
        ),
        scalars(
            "Weight sync",
            {
                "weights to the engines": "timing_s/update_weights",
                "before the next generation": "timing_s/sync_rollout_weights",
                "fully async": "timing_s/param_sync",
                "fully async (doubled name)": "timing_s/timing_s/param_sync",
            },
            description="How long new weights take to reach the rollout engines. Generation pauses meanwhile: "
            "compare with the time of a step.",
            width=8,
        ),
        scalars(
            "Dropped as too old",
            {"this step": "training/off_policy/evicted_samples"},
            width=6,
        ),
        spread("Age of groups dropped as too old", "training/off_policy/evicted_samples_staleness", width=6),
        scalars(
            "Trajectories that cross a weight sync",
            {"number": "fully_async/partial/total_partial_num"},
            width=6,
        ),
        scalar("fully_async/partial/partial_ratio", width=6),
        scalar("fully_async/partial/max_partial_span", width=6),
        scalars(
            "Samples since the start",
            {
                "generated": "fully_async/count/total_generated_samples",
                "dropped from a full queue": "fully_async/count/dropped_stale_samples",
                "stale samples trained": "fully_async/count/stale_samples_processed",
                "stale trajectories trained": "fully_async/count/stale_trajectory_processed",
            },
            description="Samples counted since the run started. Drops from a full queue are generation thrown away.",
            width=6,
        ),
        scalar("fully_async/count/current_param_version", width=6),
        scalars(
            "Time of a weight version",
            {"whole": "fully_async/rollouter/version_time", "rollouter active": "fully_async/rollouter/active_time"},
            width=6,
        ),
        scalar("fully_async/rollouter/step_generated_samples", width=6),
        scalars(
            "Switching trainer devices",
            {
                "to rollout": "timing_s/switch_to_rollout",
                "to training": "timing_s/switch_to_trainer",
                "lent to rollout": "timing_s/switch_wait",
            },
            width=6,
        ),
        scalars(
            "Background generation of a batch",
            {"one-step-off": "timing_s/generate_async"},
            width=6,
        ),
        scalars(
            "Prompt groups for the next step",
            {
                "ready": "separate_async/decision/sampleable_count",
                "missing": "separate_async/decision/remaining",
                "waited for": "separate_async/switch/wait_samples",
            },
            width=6,
        ),
    ],
)
