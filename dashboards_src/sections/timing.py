"""Where a step's time goes, and how well the devices are used."""

from dashboards_src.run import BY_RUN, RUN, TRAINER
from dashboards_src.scalars import scalar, scalars, select, spread
from generator.dashboard import Section
from generator.fields import Links, fixed_color, override
from generator.panel import Panel
from generator.panels import timeseries
from generator.queries import Query

STAGES = (
    "gen",
    "reward",
    "old_log_prob",
    "ref",
    "values",
    "adv",
    "update_critic",
    "update_actor",
    "update_weights",
    "wait_for_enough_samples",
    "timing_s_param_sync",
)
"""The stages that follow each other within every step (verl trainer/ppo/v1/trainer_base.py).

Others lie inside these, beside the step, or are the same time under another name, and would be
counted twice; checkpoints and switches come in some steps only, but a gauge keeps its last value.
"""

_PREFIX = f"{TRAINER}timing_s_"
_ALTERNATIVES = "|".join(STAGES)
_STAGE_METRICS = RUN.select("", f'__name__=~"{_PREFIX}({_ALTERNATIVES})"')

STAGE_SECONDS = f'label_replace({_STAGE_METRICS}, "stage", "$1", "__name__", "{_PREFIX}(.+)")'
"""Seconds of each stage in the last step, by the label `stage`."""

SHARE_OF_STEP = f"{STAGE_SECONDS} / on ({', '.join(RUN.labels)}) group_left () {RUN.max(select('timing_s/step'))}"

STAGE_LOOK = [
    override("^adv ", color=fixed_color("text")),
    # The colours of the states that these stages are.
    override("^gen ", color=fixed_color("blue")),
    override("^old_log_prob ", color=fixed_color("yellow")),
    override("^ref ", color=fixed_color("purple")),
    override("^update_actor ", color=fixed_color("green")),
    override("^update_weights ", color=fixed_color("orange")),
    override("^reward ", color=fixed_color("red")),
]

TITLE = "Training: time of a step"


def share_of_step(*, width: int, height: int, links: Links = ()) -> Panel:
    """The stages of a step, stacked to the whole of it: here in full and on the first screen."""
    return timeseries(
        "Where a step's time goes",
        Query(SHARE_OF_STEP, f"{{{{stage}}}} {BY_RUN}"),
        description="Share of the step that each stage takes; what is missing to 100 % was spent between them "
        "or on a checkpoint. "
        "The widest band is where to save. In async modes `gen` is the trainer's wait for samples, so idle "
        "training devices. Choose one experiment: the bands of several are stacked.",
        unit="percentunit",
        stack="normal",
        minimum=0,
        maximum=1,
        width=width,
        height=height,
        overrides=STAGE_LOOK,
        links=links,
    )


TIMING = Section(
    TITLE,
    [
        share_of_step(width=12, height=10),
        timeseries(
            "Seconds of each stage",
            Query(STAGE_SECONDS, f"{{{{stage}}}} {BY_RUN}"),
            Query(select("timing_s/step"), f"whole step {BY_RUN}"),
            description="How long each stage of the last step took, and the step as a whole. A stage that grows "
            "while sequence lengths stay is where to look first.",
            unit="s",
            minimum=0,
            fill=0,
            width=12,
            height=10,
            overrides=[*STAGE_LOOK, override("^whole step ", custom__lineWidth=3, color=fixed_color("text"))],
        ),
        scalars(
            "Time per token",
            {
                "generation": "timing_per_token_ms/gen",
                "reference": "timing_per_token_ms/ref",
                "values": "timing_per_token_ms/values",
                "advantage": "timing_per_token_ms/adv",
                "critic update": "timing_per_token_ms/update_critic",
                "actor update": "timing_per_token_ms/update_actor",
            },
            description="Time of each stage over the tokens it worked on. Unlike the stage's time it does not rise "
            "merely because responses grow longer: if it rises, the stage became slower.",
            width=8,
        ),
        scalars(
            "Work beside the step",
            {
                "validation": "timing_s/testing",
                "checkpoint": "timing_s/save_checkpoint",
                "dump of generations": "timing_s/dump_rollout_generations",
                "profiler start": "timing_s/start_profile",
                "profiler stop": "timing_s/stop_profile",
            },
            description="Time of what is done only now and then: validation, checkpoints, dumps, profiling. "
            "Spikes in the time of a step that come with these are no fault.",
            width=8,
        ),
        spread("Tool time of a trajectory", "timing_s/agent_loop/tool_calls", width=8),
    ],
)

THROUGHPUT = Section(
    "Training: throughput and MFU",
    [
        scalar("perf/throughput", width=8),
        scalar("perf/time_per_step", width=8),
        scalar("perf/total_num_tokens", width=8),
        scalars(
            "Model FLOPs utilisation",
            {
                "actor update": "perf/mfu/actor",
                "log-probs": "perf/mfu/actor_infer",
                "critic update": "perf/mfu/critic",
                "actor worker": "actor/mfu",
                "critic worker": "critic/mfu",
            },
            description="Estimated FLOPs a second as a share of what the devices promise. A fall at the same "
            "sequence lengths is a slower device, a slower network or more padding.",
            width=12,
        ),
        scalars(
            "Speculative decoding as the trainer sees it",
            {"tokens a step": "rollout/spec_accept_length"},
            width=6,
        ),
        scalar("rollout/spec_accept_rate", width=6),
        scalar("rollout/moe/routed_experts_found", width=6),
        scalar("rollout/moe/routed_expert_assignments", width=6),
    ],
)
