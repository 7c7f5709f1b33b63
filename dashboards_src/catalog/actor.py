"""The actor: its losses, how far an update moves it, what it costs."""

from .metric import Metric

_CORE = "verl verl/trainer/ppo/core_algos.py"
_LOSSES = "verl verl/workers/utils/losses.py"
_ENGINE = "verl verl/workers/engine_workers.py"
_REWARD_KL = "verl verl/trainer/ppo/ray_trainer.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "actor/entropy",
        "Policy entropy",
        "none",
        "Entropy of the policy over response tokens, from the pass that recomputes old log-probs; absent in "
        "bypass mode, which skips that pass. A steep fall is entropy collapse: the policy grows "
        "overconfident, stops exploring, and the score levels off.",
        source="verl docs/algo/entropy.md",
    ),
    Metric(
        "actor/entropy_loss",
        "Policy entropy during the update",
        "none",
        "Entropy of the policy over response tokens as the update sees it; verl takes it off the loss, "
        "times entropy_coeff. Logged when the update computes entropy (calculate_entropy, or entropy_coeff "
        "not 0).",
        source=_LOSSES,
    ),
    Metric(
        "actor/grad_norm",
        "Gradient norm of the actor",
        "none",
        "Total norm of the actor's gradient as the clipping call returns it, averaged over the step's "
        "mini-batches; an update whose norm is not finite is skipped. A rise that goes on points to a "
        "precision gap between inference engine and training: look at rollout_probs_diff_mean.",
        source="verl docs/faq/faq.rst",
    ),
    Metric(
        "actor/kl_coef",
        "KL loss coefficient",
        "none",
        "The configured kl_loss_coef by which actor/kl_loss enters the loss; logged with use_kl_loss.",
        source=_LOSSES,
    ),
    Metric(
        "actor/kl_loss",
        "KL loss against the reference",
        "none",
        "Estimated KL divergence between the policy and the reference policy over response tokens "
        "(estimator kl_loss_type), before kl_loss_coef; logged with use_kl_loss. A steady rise means that "
        "the policy drifts from the reference faster than the coefficient holds it.",
        source=_LOSSES,
    ),
    Metric(
        "actor/loss",
        "Total loss of the actor",
        "none",
        "The loss that is backpropagated: policy loss, less entropy bonus, plus KL or distillation loss; "
        "summed over micro-batches, averaged over data-parallel ranks. NaN or a jump calls for a look at "
        "its parts and at the gradient norm.",
        source=_ENGINE,
    ),
    Metric(
        "actor/lr",
        "Learning rate of the actor",
        "sci",
        "Learning rate after the scheduler's step at the end of the update. Compare with the configured "
        "warm-up and decay when the loss or the gradient norm changes its course.",
        source=_ENGINE,
    ),
    Metric(
        "actor/mfu",
        "MFU of the actor under the worker's name",
        "percentunit",
        "Model FLOPs utilisation as the actor's worker names it. verl's trainers move it to perf/mfu/actor "
        "before they log, so this series is empty with them.",
        better="higher",
        source=_REWARD_KL,
    ),
    Metric(
        "actor/perf/cpu_memory_used_gb",
        "Host memory in use beside the actor",
        "gbytes",
        "Memory in use on the actor worker's host, all processes together, in GiB, averaged over the step's "
        "mini-batches. A climb from step to step means that something is kept which should be freed.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "actor/perf/max_memory_allocated_gb",
        "Peak GPU memory allocated by the actor",
        "gbytes",
        "Most GPU memory that PyTorch tensors held in the actor's process, in GiB, up to this step; as a "
        "peak it does not fall again. Near the size of the device, the next long batch may run out of "
        "memory.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "actor/perf/max_memory_reserved_gb",
        "Peak GPU memory reserved by the actor",
        "gbytes",
        "Most GPU memory that PyTorch's allocator held in the actor's process, in GiB, up to this step. Far "
        "above the allocated peak, much of it is cache or fragments.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "actor/pg_clipfrac",
        "Share of tokens that PPO clips",
        "percentunit",
        "Share of response tokens whose probability ratio, new to old policy, left the clip range "
        "(clip_ratio_low, clip_ratio_high) in the direction the advantage pushes. A large or rising share "
        "means that updates move the policy further than the range allows.",
        source=_CORE,
    ),
    Metric(
        "actor/pg_clipfrac_lower",
        "Share of tokens that dual clipping bounds",
        "percentunit",
        "Share of response tokens with a negative advantage whose loss hit the dual-clip bound "
        "clip_ratio_c. They are tokens that became more than clip_ratio_c times as likely as under the old "
        "policy.",
        source=_CORE,
    ),
    Metric(
        "actor/pg_loss",
        "Policy-gradient loss",
        "none",
        "The policy-gradient objective over response tokens (clipped PPO or what loss_mode names), "
        "aggregated by loss_agg_mode, before entropy and KL terms. Its level depends on how advantages are "
        "normalised; watch for jumps.",
        source=_LOSSES,
    ),
    Metric(
        "actor/ppo_kl",
        "KL of the update, old against new policy",
        "none",
        "Mean over response tokens of old minus new log-prob, an estimate of how far the update moved the "
        "policy; in bypass mode the old policy is the rollout's. Growth means too large steps or, in async "
        "training, samples too old.",
        source=_CORE,
    ),
    Metric(
        "actor/reward_kl_penalty",
        "KL to the reference taken off the reward",
        "none",
        "KL estimate between policy and reference, averaged over each sequence and then over the batch; it "
        "is taken off token rewards, times actor/reward_kl_penalty_coeff. Logged with use_kl_in_reward.",
        source=_REWARD_KL,
    ),
    Metric(
        "actor/reward_kl_penalty_coeff",
        "Coefficient of the KL penalty in the reward",
        "none",
        "The beta by which the KL penalty enters the reward: constant with the fixed controller, moved "
        "towards a target KL by the adaptive one. Logged with use_kl_in_reward.",
        source=_REWARD_KL,
    ),
)
