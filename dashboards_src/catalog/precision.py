"""Do rollout and training agree on the probabilities of the tokens that were sampled?

Logged when the rollout returns log-probs (`actor_rollout_ref.rollout.calculate_log_probs`) and the trainer
recomputes them; absent in bypass mode, which takes the rollout's for granted.
"""

from .metric import Healthy, Metric

_FAQ = "verl docs/faq/faq.rst"
_DEBUG = "verl verl/utils/debug/metrics.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "training/rollout_probs_diff_mean",
        "Mean gap of token probabilities, rollout to actor",
        "none",
        "Absolute difference between the probability that the inference engine gave a sampled token and the "
        "one the actor recomputes, averaged over response tokens. Below 0.005 is normal; above 0.01 for "
        "long, the engine has a precision fault (non-Hopper GPU, vLLM's cascade attention, long texts: try "
        "disable_cascade_attn), and the gradient norm tends to climb.",
        better="lower",
        healthy=Healthy(source=_FAQ, above=(0.005, 0.01)),
        source=_FAQ,
    ),
    Metric(
        "training/rollout_probs_diff_max",
        "Largest gap of token probabilities",
        "none",
        "Largest absolute difference between the engine's and the actor's probability of one response "
        "token. It is decided by a single token, so judge it beside the mean.",
        better="lower",
        source=_DEBUG,
    ),
    Metric(
        "training/rollout_probs_diff_std",
        "Spread of the gap of token probabilities",
        "none",
        "Standard deviation, over response tokens, of the absolute difference between the engine's and the "
        "actor's probability. High with a low mean: few tokens are far off; both high: most are.",
        better="lower",
        source=_DEBUG,
    ),
    Metric(
        "training/rollout_actor_probs_pearson_corr",
        "Correlation of rollout and actor probabilities",
        "none",
        "Pearson correlation, over response tokens, of the engine's and the actor's probabilities; 1 when "
        "they agree. A large mismatch right from the start indicates a fault of weights, scales or packing.",
        better="higher",
        source="verl docs/advance/deepseek_v4_integration.rst",
    ),
    Metric(
        "training/rollout_probs_diff_valid",
        "Probability comparison is valid",
        "none",
        "1 when the batch had response tokens to compare, 0 when its response mask was empty; the other "
        "figures of this family are then NaN.",
        better="higher",
        healthy=Healthy(source=_DEBUG, below=(1.0, None)),
        source=_DEBUG,
    ),
)
