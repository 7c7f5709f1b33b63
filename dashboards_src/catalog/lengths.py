"""How long prompts and responses are, how many turns they took, and how evenly ranks share them."""

from .metric import Healthy, Metric

_DATA = "verl verl/trainer/ppo/metric_utils.py"
_BALANCE = "verl verl/utils/seqlen_balancing.py"
_BEST = "verl docs/perf/best_practices.rst"
_AGENT = "verl verl/experimental/agent_loop/agent_loop.py"
_TRAINER = "verl verl/trainer/ppo/v1/trainer_base.py"

METRICS: tuple[Metric, ...] = (
    Metric(
        "response_length/mean",
        "Mean response length",
        "short",
        "Tokens of a response averaged over the batch, aborted ones as 0 and, with tools, their answers "
        "included. A steady climb slows every stage and meets the limit; a collapse means that the model "
        "has learnt to stop early.",
        source=_DATA,
    ),
    Metric(
        "response_length/max",
        "Longest response",
        "short",
        "Tokens of the longest response of the batch. It sets how long synchronous training waits for generation.",
        source=_DATA,
    ),
    Metric(
        "response_length/min",
        "Shortest response",
        "short",
        "Tokens of the shortest response of the batch; 0 when one was aborted.",
        source=_DATA,
    ),
    Metric(
        "response_length/clip_ratio",
        "Share of responses at full length",
        "percentunit",
        "Share of responses as long as the batch's padded width: max_response_length in the older trainers, "
        "the longest response of the batch in trainer v1, where it is never 0. Above 0.1 responses are "
        "often cut off: raise max_response_length.",
        better="lower",
        healthy=Healthy(source=_BEST, above=(0.1, None)),
        source=_BEST,
    ),
    Metric(
        "response_length_non_aborted/mean",
        "Mean length of finished responses",
        "short",
        "Tokens of a response averaged over those that have any: the mean length without the zeros of aborted ones.",
        source=_DATA,
    ),
    Metric(
        "response_length_non_aborted/max",
        "Longest finished response",
        "short",
        "Tokens of the longest response among those that have any.",
        source=_DATA,
    ),
    Metric(
        "response_length_non_aborted/min",
        "Shortest finished response",
        "short",
        "Tokens of the shortest response among those that have any.",
        source=_DATA,
    ),
    Metric(
        "response_length_non_aborted/clip_ratio",
        "Share of finished responses at full length",
        "percentunit",
        "response_length/clip_ratio over responses that have any token. Above 0.1 responses are often cut off.",
        better="lower",
        healthy=Healthy(source=_BEST, above=(0.1, None)),
        source=_DATA,
    ),
    Metric(
        "response/aborted_ratio",
        "Share of aborted responses",
        "percentunit",
        "Share of responses without a single token. They teach nothing and are left out of score and "
        "reward; a rise calls for a look at the engines.",
        better="lower",
        source=_DATA,
    ),
    Metric(
        "prompt_length/mean",
        "Mean prompt length",
        "short",
        "Tokens of a prompt averaged over the batch: a property of the data and of the chat template.",
        source=_DATA,
    ),
    Metric(
        "prompt_length/max",
        "Longest prompt",
        "short",
        "Tokens of the longest prompt of the batch.",
        source=_DATA,
    ),
    Metric(
        "prompt_length/min",
        "Shortest prompt",
        "short",
        "Tokens of the shortest prompt of the batch.",
        source=_DATA,
    ),
    Metric(
        "prompt_length/clip_ratio",
        "Share of prompts at full length",
        "percentunit",
        "Share of prompts as long as the batch's padded width: max_prompt_length in the older trainers, the "
        "longest prompt of the batch in trainer v1. Large with poor scores, prompts are truncated: raise "
        "max_prompt_length or clean the data.",
        better="lower",
        source=_BEST,
    ),
    Metric(
        "num_turns/mean",
        "Mean turns of a conversation",
        "short",
        "Chat turns of a sample (user, assistant and tool), averaged; 2 without tools. The older trainers "
        "log it, trainer v1 logs training/num_turns instead.",
        source=_AGENT,
    ),
    Metric(
        "num_turns/max",
        "Most turns of a conversation",
        "short",
        "Most chat turns of a sample.",
        source=_AGENT,
    ),
    Metric(
        "num_turns/min",
        "Fewest turns of a conversation",
        "short",
        "Fewest chat turns of a sample.",
        source=_AGENT,
    ),
    Metric(
        "training/num_turns/mean",
        "Mean turns of a training sample",
        "short",
        "Chat turns of a trained sample (user, assistant and tool), averaged over the step; 2 without "
        "tools. Drifting to the configured maximum, the agent does not come to an end.",
        source=_TRAINER,
    ),
    Metric(
        "training/num_turns/max",
        "Most turns of a training sample",
        "short",
        "Most chat turns of a sample trained in the step.",
        source=_TRAINER,
    ),
    Metric(
        "training/num_turns/min",
        "Fewest turns of a training sample",
        "short",
        "Fewest chat turns of a sample trained in the step.",
        source=_TRAINER,
    ),
    Metric(
        "tool_call_counts/mean",
        "Mean tool calls of a sample",
        "short",
        "Tool calls of a sample averaged over the batch; logged when the agent loop reports them. A fall to "
        "0 means that the model has stopped using its tools.",
        source=_DATA,
    ),
    Metric(
        "tool_call_counts/max",
        "Most tool calls of a sample",
        "short",
        "Most tool calls of a sample.",
        source=_DATA,
    ),
    Metric(
        "tool_call_counts/min",
        "Fewest tool calls of a sample",
        "short",
        "Fewest tool calls of a sample.",
        source=_DATA,
    ),
    Metric(
        "global_seqlen/mean",
        "Mean tokens of a data-parallel rank",
        "short",
        "Tokens (prompt and response) of the batch divided by the number of data-parallel ranks.",
        source=_BALANCE,
    ),
    Metric(
        "global_seqlen/max",
        "Most tokens of a rank before balancing",
        "short",
        "Tokens that the fullest rank would get if the batch were cut up in the order it came.",
        source=_BALANCE,
    ),
    Metric(
        "global_seqlen/min",
        "Fewest tokens of a rank before balancing",
        "short",
        "Tokens that the emptiest rank would get if the batch were cut up in the order it came.",
        source=_BALANCE,
    ),
    Metric(
        "global_seqlen/minmax_diff",
        "Token imbalance before balancing",
        "short",
        "Fullest less emptiest rank if the batch were cut up in the order it came: what balancing has to even out.",
        better="lower",
        source=_BALANCE,
    ),
    Metric(
        "global_seqlen/balanced_max",
        "Most tokens of a rank after balancing",
        "short",
        "Tokens of the fullest rank after sequences are spread by workload, which grows faster than length. "
        "Far above the fewest, that rank holds the others up.",
        better="lower",
        source=_BALANCE,
    ),
    Metric(
        "global_seqlen/balanced_min",
        "Fewest tokens of a rank after balancing",
        "short",
        "Tokens of the emptiest rank after sequences are spread by workload.",
        better="higher",
        source=_BALANCE,
    ),
)
