"""Do the rollout engine and the trainer agree on the probabilities of what was sampled?"""

from dashboards_src.run import BY_RUN
from dashboards_src.scalars import described, metric, scalar, scalars, select, thresholds
from generator.dashboard import Section
from generator.panels import text, timeseries
from generator.queries import Query

TITLE = "Precision: rollout against trainer"
PROBS_DIFF = "Gap of token probabilities, rollout to trainer"

_MEAN = metric("training/rollout_probs_diff_mean")

_WHAT_TO_DO = """\
**Below 0.005** is normal. **Above 0.01 for many steps** the engine has a precision fault; expect the
gradient norm to climb next.

1. *Long texts, vLLM, a GPU that is not Hopper (A100, L20, B200)*: cascade attention is the known cause
   (vLLM up to 0.10.2, issue 22103). Set, on one line:
   ```
   +actor_rollout_ref.rollout.engine_kwargs
     .vllm.disable_cascade_attn=True
   ```
2. *Other engines or newer vLLM*: compare dtype, quantisation and attention backend of rollout and trainer.
   Low correlation from the first step on means wrong weights or scales, not drift.
3. *Async modes*: some gap is staleness. Look at the Async section before blaming kernels.

Nothing here? Set `actor_rollout_ref.rollout`
`.calculate_log_probs=True`; in bypass mode there is nothing to compare.
"""

PRECISION = Section(
    TITLE,
    [
        timeseries(
            PROBS_DIFF,
            Query(select(_MEAN.key), BY_RUN),
            description=f"{described(_MEAN)} What to do: with vLLM up to 0.10.2, long texts and a GPU that is not "
            "Hopper, set +actor_rollout_ref.rollout.engine_kwargs.vllm.disable_cascade_attn=True; otherwise compare "
            "dtype, quantisation and attention backend of rollout and trainer.",
            unit="none",
            decimals=4,
            thresholds=thresholds(_MEAN.healthy),
            bands=True,
            line_width=2,
            fill=0,
            minimum=0,
            width=15,
            height=13,
        ),
        text("What to do", _WHAT_TO_DO, width=9, height=13),
        scalar("actor/grad_norm"),
        scalars(
            "Largest gap and spread of the gap",
            {"largest": "training/rollout_probs_diff_max", "spread": "training/rollout_probs_diff_std"},
        ),
        scalar("training/rollout_actor_probs_pearson_corr"),
        scalar("training/rollout_probs_diff_valid"),
        scalars(
            "KL of rollout from trainer",
            {"direct": "rollout_corr/kl", "K3": "rollout_corr/k3_kl"},
            ranged_by="direct",
            width=8,
        ),
        scalars(
            "Chi-squared divergence",
            {"per token": "rollout_corr/chi2_token", "per sequence": "rollout_corr/chi2_seq"},
            ranged_by="per token",
            width=8,
        ),
        scalars(
            "Perplexity",
            {"trainer": "rollout_corr/training_ppl", "rollout": "rollout_corr/rollout_ppl"},
            description="Perplexity of the same responses under the trainer's policy and under the rollout engine's. "
            "The two lines should lie on each other.",
            width=8,
        ),
        scalar("rollout_corr/ppl_ratio", width=8),
        scalars(
            "Difference in log perplexity",
            {
                "mean": "rollout_corr/log_ppl_diff",
                "absolute": "rollout_corr/log_ppl_abs_diff",
                "max": "rollout_corr/log_ppl_diff_max",
                "min": "rollout_corr/log_ppl_diff_min",
            },
            width=8,
        ),
        scalars(
            "Log perplexity",
            {"trainer": "rollout_corr/training_log_ppl", "rollout": "rollout_corr/rollout_log_ppl"},
            width=8,
        ),
        scalars(
            "Importance weights",
            {"mean": "rollout_corr/rollout_is_mean", "spread": "rollout_corr/rollout_is_std"},
            ranged_by="mean",
            width=8,
        ),
        scalar("rollout_corr/rollout_is_eff_sample_size", width=8),
        scalars(
            "Share that rejection removes",
            {
                "tokens": "rollout_corr/rollout_rs_masked_fraction",
                "responses": "rollout_corr/rollout_rs_seq_masked_fraction",
            },
            width=8,
        ),
    ],
)
