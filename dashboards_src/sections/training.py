"""Is the model learning: rewards, the actor, the critic, what it generates."""

from dashboards_src.run import RUN, TRAINER
from dashboards_src.scalars import scalar, scalars, spread
from generator.dashboard import Section
from generator.fields import column
from generator.panels import table, timeseries
from generator.queries import Query
from generator.transformations import columns, merged

LEARNING = Section(
    "Training: rewards and progress",
    [
        spread("Rewards", "critic/rewards", width=12, height=8),
        spread("Scores", "critic/score", width=12, height=8),
        spread("Advantages", "critic/advantages", width=8),
        spread("Returns", "critic/returns", width=8),
        scalar("training/global_step", width=4),
        scalar("training/epoch", width=4),
        scalars(
            "Samples dropped before training",
            {
                "no signal": "training/filter_groups/evicted_samples",
                "surplus": "training/filter_groups/discarded_surplus_samples",
                "failed": "training/rollout_failure/evicted_samples",
                "too old": "training/off_policy/evicted_samples",
            },
            description="Prompt groups of a step that did not reach training, by why: all responses had the same "
            "reward (DAPO's filter), surplus once the batch was full, a failed rollout, or too old for "
            "max_off_policy_threshold. Failures that stay are an error in agent loop, tools or engine.",
            width=12,
        ),
        scalars(
            "KL penalty in the reward",
            {"penalty": "actor/reward_kl_penalty", "coefficient": "actor/reward_kl_penalty_coeff"},
            width=12,
        ),
    ],
)

ACTOR = Section(
    "Training: actor",
    [
        scalars(
            "Loss of the actor",
            {"policy gradient": "actor/pg_loss", "total": "actor/loss"},
            description="The policy-gradient loss and the total that is backpropagated (with entropy bonus and KL). "
            "Its sign and size mean little; NaN or a jump does: look at gradient norm and clipping.",
        ),
        scalar("actor/grad_norm"),
        scalars(
            "Entropy of the policy",
            {"before the update": "actor/entropy", "in the update": "actor/entropy_loss"},
        ),
        scalars("KL of the policy", {"of the update": "actor/ppo_kl", "to the reference": "actor/kl_loss"}),
        scalars(
            "Share of tokens that are clipped",
            {"PPO": "actor/pg_clipfrac", "dual clipping": "actor/pg_clipfrac_lower"},
        ),
        scalar("actor/lr"),
        scalar("actor/kl_coef"),
        scalars(
            "Memory of the trainer",
            {
                "GPU allocated": "actor/perf/max_memory_allocated_gb",
                "GPU reserved": "actor/perf/max_memory_reserved_gb",
                "host": "actor/perf/cpu_memory_used_gb",
                "GPU allocated (SFT)": "perf/max_memory_allocated_gb",
                "GPU reserved (SFT)": "perf/max_memory_reserved_gb",
                "host (SFT)": "perf/cpu_memory_used_gb",
            },
            description="Most GPU memory that the trainer's tensors and its allocator held, and memory in use on "
            "its host, in GiB. Reserved far above allocated is fragmentation; a host that fills up ends in an "
            "out-of-memory kill.",
        ),
    ],
)

CRITIC = Section(
    "Training: critic",
    [
        scalars("Loss of the value model", {"value loss": "critic/vf_loss", "total": "critic/loss"}),
        scalar("critic/vf_explained_var"),
        scalar("critic/vf_clipfrac"),
        scalar("critic/grad_norm"),
        spread("Value estimates", "critic/values", width=8),
        scalar("critic/vpred_mean", width=8),
        scalar("critic/lr", width=8),
    ],
)

DISTILLATION = Section(
    "Training: distillation",
    [
        scalars(
            "Distillation loss",
            {"mean": "actor/distillation/loss", "absolute": "actor/distillation/abs_loss"},
            width=8,
        ),
        scalars(
            "Distillation loss of a token",
            {"max": "actor/distillation/loss_max", "min": "actor/distillation/loss_min"},
            width=8,
        ),
        scalar("actor/distillation/overlap_token_advantage", width=8),
        scalar("actor/distillation/overlap_ratio", width=8),
        scalars(
            "Student's mass on the teacher's top tokens",
            {
                "mean": "actor/distillation/student_mass",
                "max": "actor/distillation/student_mass_max",
                "min": "actor/distillation/student_mass_min",
            },
            width=8,
        ),
        scalars(
            "Teacher's mass on its own top tokens",
            {
                "mean": "actor/distillation/teacher_mass",
                "max": "actor/distillation/teacher_mass_max",
                "min": "actor/distillation/teacher_mass_min",
            },
            width=8,
        ),
    ],
)

LENGTHS = Section(
    "Training: sequence lengths and turns",
    [
        spread("Response length", "response_length", width=8),
        scalars(
            "Share of responses cut off or aborted",
            {
                "at full length": "response_length/clip_ratio",
                "finished, at full length": "response_length_non_aborted/clip_ratio",
                "aborted": "response/aborted_ratio",
            },
            ranged_by="at full length",
            width=8,
        ),
        spread("Prompt length", "prompt_length", width=8),
        spread("Length of finished responses", "response_length_non_aborted", width=8),
        scalar("prompt_length/clip_ratio", width=8),
        scalars(
            "Tokens of a data-parallel rank",
            {
                "mean": "global_seqlen/mean",
                "max": "global_seqlen/max",
                "min": "global_seqlen/min",
                "balanced max": "global_seqlen/balanced_max",
                "balanced min": "global_seqlen/balanced_min",
                "imbalance": "global_seqlen/minmax_diff",
            },
            description="Tokens that a data-parallel rank trains on, before and after balancing. If max and min "
            "after balancing are far apart, the fullest rank holds up the others in every update.",
            width=8,
        ),
        spread("Turns of a conversation", "num_turns", width=8),
        spread("Turns of a training sample", "training/num_turns", width=8),
        spread("Tool calls of a sample", "tool_call_counts", width=8),
    ],
)

_NAMED = 'label_replace({}, "metric", "$1", "__name__", "' + TRAINER + '(.+)")'


def _named(pattern: str) -> str:
    """All trainer metrics whose name matches, each with its name in the label `metric`.

    A function over time drops the name, and metrics that differ in nothing else would clash.
    """
    return _NAMED.replace("{}", RUN.select("", f'__name__=~"{TRAINER}{pattern}"'))


VALIDATION = Section(
    "Training: validation",
    [
        timeseries(
            "Validation results",
            Query(_named("val_core_.+"), "{{metric}} {{experiment_name}}"),
            description="What verl reports as the main result on each validation data set, such as accuracy "
            "averaged over N answers to a question (mean@N) or the best of N (best@N). Rewards that rise while this "
            "falls: the policy exploits the reward. Set trainer.test_freq to have it.",
            unit="none",
            width=12,
            height=10,
            legend="table",
            fill=0,
        ),
        table(
            "Validation results, last and best",
            Query(RUN.max(_named("val_core_.+"), "metric"), instant=True, shape="table"),
            Query(
                RUN.max(f"max_over_time({_named('val_core_.+')}[$__range:1m])", "metric"), instant=True, shape="table"
            ),
            description="The last value of each main validation result, and its highest in the shown stretch of time.",
            unit="none",
            decimals=3,
            width=12,
            height=10,
            sort_by="result",
            descending=False,
            overrides=[column("result", custom__width=320)],
            transformations=[
                merged(),
                columns(
                    hidden=("Time",),
                    renamed={"Value #A": "last", "Value #B": "best", "metric": "result"},
                    order=("metric", "Value #A", "Value #B", "experiment_name", "project"),
                ),
            ],
        ),
        timeseries(
            "Further validation figures",
            Query(_named("val_aux_.+"), "{{metric}} {{experiment_name}}"),
            description="All else that verl reports on validation data: scores by other statistics, and turns.",
            unit="none",
            width=24,
            height=9,
            legend="table",
            fill=0,
        ),
    ],
)
