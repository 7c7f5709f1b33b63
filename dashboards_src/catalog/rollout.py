"""Rollout features that the trainer reports on: speculative decoding and routed experts."""

from .metric import Healthy, Metric

_SPEC = "verl verl/trainer/ppo/ray_trainer.py"
_MOE = "verl verl/trainer/ppo/metric_utils.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "rollout/spec_accept_rate",
        "Acceptance rate of speculative decoding",
        "percentunit",
        "Share of drafted tokens that the model accepted, worked out per response and averaged, so that "
        "long and short ones count alike; a response without drafts counts as 0. A fall means that drafting "
        "pays off less.",
        better="higher",
        source=_SPEC,
    ),
    Metric(
        "rollout/spec_accept_length",
        "Tokens per verification step",
        "short",
        "1 plus accepted draft tokens per verification step, worked out per response and averaged. Near 1, "
        "drafting costs work and saves none.",
        better="higher",
        source=_SPEC,
    ),
    Metric(
        "rollout/moe/routed_experts_found",
        "Expert routing was recorded",
        "none",
        "1 when the rollout returned expert routing since the last report, 0 when not; logged every "
        "moe_load_balance_metrics_interval steps. At 0 no load-balance figures (rollout/moe/max_vio and its "
        "like) can be worked out.",
        better="higher",
        healthy=Healthy(source=_MOE, below=(1.0, None)),
        source=_MOE,
    ),
    Metric(
        "rollout/moe/routed_expert_assignments",
        "Expert assignments counted",
        "short",
        "Expert choices counted since the last report: response tokens (without each response's last) by "
        "layers by top-k. It says on how much data the load-balance figures rest.",
        source=_MOE,
    ),
)
