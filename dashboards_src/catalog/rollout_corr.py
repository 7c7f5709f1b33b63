"""Rollout correction: how far the policy that sampled has come from the policy that trains, and what is done.

"Training" is the old policy in decoupled mode and the current one in bypass mode, where the actor computes
these figures and the trainer logs them with `actor/` in front.
"""

from .metric import Healthy, Metric

_DOC = "verl docs/algo/rollout_corr.md"
_HELPER = "verl verl/trainer/ppo/rollout_corr_helper.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "rollout_corr/kl",
        "KL of rollout from training policy",
        "none",
        "Mean over response tokens of rollout minus training log-prob, the direct estimate of their KL "
        "divergence; it can fall below 0. More than 0.1 to either side, samples are markedly off-policy: "
        "precision gap or stale weights.",
        healthy=Healthy(source=_DOC, above=(0.1, None), below=(-0.1, None)),
        source=_DOC,
    ),
    Metric(
        "rollout_corr/k3_kl",
        "KL of rollout from training policy (K3)",
        "none",
        "The same divergence by the K3 estimator, mean of r - log r - 1 with r the training-to-rollout "
        "probability ratio: never below 0 and steadier when the policies are close. 0 when they are equal.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/chi2_token",
        "Chi-squared divergence per token",
        "none",
        "Mean squared training-to-rollout probability ratio of response tokens, less 1: the variance that "
        "importance weights would have. Above 1 the distributions have shifted severely.",
        better="lower",
        healthy=Healthy(source=_DOC, above=(1.0, None)),
        source=_DOC,
    ),
    Metric(
        "rollout_corr/chi2_seq",
        "Chi-squared divergence per sequence",
        "none",
        "Mean squared probability ratio of whole responses, less 1. The ratio of a response is a product "
        "over its tokens, so this grows with length and reacts far sooner than the figure per token.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/training_ppl",
        "Perplexity under the training policy",
        "none",
        "exp of the negative mean log-prob of a response under the training policy, averaged over "
        "responses. Lower is more confident; compare with the rollout's.",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_ppl",
        "Perplexity under the rollout policy",
        "none",
        "exp of the negative mean log-prob of a response under the policy that sampled it, averaged over responses.",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/ppl_ratio",
        "Perplexity of training over rollout",
        "none",
        "Training perplexity over rollout perplexity, response by response, averaged. 1 when they agree; "
        "above 1 the training policy finds the samples less likely than the policy that drew them.",
        source=_HELPER,
    ),
    Metric(
        "rollout_corr/training_log_ppl",
        "Log perplexity under the training policy",
        "none",
        "Negative mean log-prob of a response under the training policy, averaged over responses; a linear "
        "scale on which trends show.",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_log_ppl",
        "Log perplexity under the rollout policy",
        "none",
        "Negative mean log-prob of a response under the policy that sampled it, averaged over responses.",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/log_ppl_diff",
        "Log perplexity, training less rollout",
        "none",
        "Training minus rollout log perplexity, averaged over responses. Above 0 the training policy finds "
        "the samples less likely than the rollout policy did.",
        source=_HELPER,
    ),
    Metric(
        "rollout_corr/log_ppl_abs_diff",
        "Gap in log perplexity",
        "none",
        "Absolute difference of training and rollout log perplexity, averaged over responses: the size of "
        "the off-policy gap whichever way it points.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/log_ppl_diff_max",
        "Largest log-perplexity difference",
        "none",
        "Largest training minus rollout log perplexity of a response in the batch: the worst case of "
        "samples that the training policy finds unlikely.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/log_ppl_diff_min",
        "Smallest log-perplexity difference",
        "none",
        "Smallest (most negative) training minus rollout log perplexity of a response in the batch.",
        better="higher",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_is_mean",
        "Mean importance weight",
        "none",
        "Importance-sampling weight averaged over response tokens; logged with rollout_is. Close to 1 the "
        "gap is small; below 0.5 or above 2 check that rollout log-probs are passed on and what shifts the "
        "distribution.",
        healthy=Healthy(source=_DOC, above=(2.0, None), below=(0.5, None)),
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_is_std",
        "Spread of importance weights",
        "none",
        "Standard deviation of the importance-sampling weights; logged with rollout_is. Above 1 few samples "
        "carry the update: tighten rollout_is_threshold.",
        better="lower",
        healthy=Healthy(source=_DOC, above=(1.0, None)),
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_is_eff_sample_size",
        "Effective sample size after weighting",
        "percentunit",
        "Share of the batch that the importance-weighted batch is worth, 1 / mean of squared normalised "
        "weights. Below 0.3 the update rests on few samples.",
        better="higher",
        healthy=Healthy(source=_DOC, below=(0.3, None)),
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_rs_masked_fraction",
        "Share of tokens that rejection removes",
        "percentunit",
        "Share of response tokens that rejection sampling took out of training; logged with rollout_rs. A "
        "large share wastes generation and hints at policies too far apart.",
        better="lower",
        source=_DOC,
    ),
    Metric(
        "rollout_corr/rollout_rs_seq_masked_fraction",
        "Share of responses that rejection touches",
        "percentunit",
        "Share of responses with at least one token that rejection sampling took out; logged with rollout_rs.",
        better="lower",
        source=_DOC,
    ),
)
