"""Scores, rewards, advantages and returns of the batch, and the value model that estimates them.

verl logs the first four under `critic/` whether or not a value model is trained.
"""

from .metric import Metric

_DATA = "verl verl/trainer/ppo/metric_utils.py"
_CORE = "verl verl/trainer/ppo/core_algos.py"
_LOSSES = "verl verl/workers/utils/losses.py"
_ENGINE = "verl verl/workers/engine_workers.py"
_TRAINER = "verl verl/trainer/ppo/v1/trainer_base.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "critic/score/mean",
        "Mean score",
        "none",
        "Score that the reward function or model gave a response, summed over its tokens, averaged over the "
        "batch without aborted samples. It should climb; if it falls, look at KL, entropy and gradient norm.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/score/max",
        "Highest score",
        "none",
        "Highest score of a response in the batch, aborted samples left out. A value above what the reward "
        "function should give points to a bug in it.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/score/min",
        "Lowest score",
        "none",
        "Lowest score of a response in the batch, aborted samples left out. Equal to the highest, all "
        "responses score alike and group-relative advantages vanish.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/rewards/mean",
        "Mean reward",
        "none",
        "Reward of a response summed over its tokens (the score, less the KL penalty with "
        "use_kl_in_reward), averaged over the batch without aborted samples. Falling while the score rises, "
        "the KL penalty outgrows the gain.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/rewards/max",
        "Highest reward",
        "none",
        "Highest reward of a response in the batch (score less KL penalty), aborted samples left out.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/rewards/min",
        "Lowest reward",
        "none",
        "Lowest reward of a response in the batch (score less KL penalty), aborted samples left out.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/advantages/mean",
        "Mean advantage",
        "none",
        "Advantage averaged over response tokens. Estimators that subtract a group or batch baseline keep "
        "it near 0, not exactly: tokens are weighed, so longer responses count for more.",
        source=_DATA,
    ),
    Metric(
        "critic/advantages/max",
        "Largest advantage",
        "none",
        "Largest advantage of a response token in the batch. 0 here and in the smallest means that the "
        "batch gives no learning signal.",
        source=_DATA,
    ),
    Metric(
        "critic/advantages/min",
        "Smallest advantage",
        "none",
        "Smallest (most negative) advantage of a response token in the batch. An outlier here pushes hard "
        "against single responses.",
        source=_DATA,
    ),
    Metric(
        "critic/returns/mean",
        "Mean return",
        "none",
        "Return averaged over response tokens: the target that the value model learns. Without a value "
        "model it equals the advantage in GRPO-like estimators.",
        source=_DATA,
    ),
    Metric(
        "critic/returns/max",
        "Largest return",
        "none",
        "Largest return of a response token in the batch.",
        source=_DATA,
    ),
    Metric(
        "critic/returns/min",
        "Smallest return",
        "none",
        "Smallest return of a response token in the batch.",
        source=_DATA,
    ),
    Metric(
        "critic/values/mean",
        "Mean value estimate",
        "none",
        "What the value model predicted before its update, averaged over response tokens; only with a value "
        "model. It should follow the mean return.",
        source=_DATA,
    ),
    Metric(
        "critic/values/max",
        "Largest value estimate",
        "none",
        "Largest prediction of the value model for a response token; only with a value model. Far outside "
        "the range of returns it is badly fitted.",
        source=_DATA,
    ),
    Metric(
        "critic/values/min",
        "Smallest value estimate",
        "none",
        "Smallest prediction of the value model for a response token; only with a value model. Far outside "
        "the range of returns it is badly fitted.",
        source=_DATA,
    ),
    Metric(
        "critic/vf_explained_var",
        "Variance that the value model explains",
        "none",
        "1 - Var(returns - values) / Var(returns) over response tokens. 1 is a perfect value model, 0 no "
        "better than a constant, below 0 worse than one: advantages are then mostly noise.",
        better="higher",
        source=_DATA,
    ),
    Metric(
        "critic/vf_loss",
        "Value loss",
        "none",
        "Half the squared error between predicted values and returns, the worse of clipped and unclipped, "
        "aggregated by loss_agg_mode. Growth means that returns change faster than the value model learns.",
        better="lower",
        source=_CORE,
    ),
    Metric(
        "critic/vf_clipfrac",
        "Share of value updates that are clipped",
        "percentunit",
        "Share of response tokens whose new value left the old one by more than cliprange_value and whose "
        "clipped error was the larger. A high share means that the value model wants to move faster than "
        "the range lets it.",
        source=_CORE,
    ),
    Metric(
        "critic/vpred_mean",
        "Mean value prediction during the update",
        "none",
        "The value model's prediction averaged over response tokens while it is being updated; compare with "
        "the mean return.",
        source=_LOSSES,
    ),
    Metric(
        "critic/grad_norm",
        "Gradient norm of the value model",
        "none",
        "Total norm of the value model's gradient as the clipping call returns it, averaged over "
        "mini-batches. A lasting rise warns of an unstable value model before its loss shows it.",
        source=_ENGINE,
    ),
    Metric(
        "critic/lr",
        "Learning rate of the value model",
        "sci",
        "Learning rate of the value model after the scheduler's step at the end of the update.",
        source=_ENGINE,
    ),
    Metric(
        "critic/loss",
        "Total loss of the value model",
        "none",
        "The loss that the value model's update backpropagates, summed over micro-batches and averaged over "
        "data-parallel ranks; the value loss seen from the engine.",
        better="lower",
        source=_ENGINE,
    ),
    Metric(
        "critic/mfu",
        "MFU of the value model under the worker's name",
        "percentunit",
        "Model FLOPs utilisation as the value model's worker names it. verl's trainers move it to "
        "perf/mfu/critic before they log, so this series is empty with them.",
        better="higher",
        source=_TRAINER,
    ),
)
