"""RL-Insight's drop-in client: what a training process imports.

Standard library only, and nothing of the rest of this tree, so that it can be
installed alone into a training environment. No call raises, and none but `finish`
waits for anything, which does so within a bound.
"""

from rl_insight.agent_loop import agent_loop_lane_id, agent_loop_session
from rl_insight.api import finish, init, metric_count, metric_gauge, metric_histogram, update_prometheus_config
from rl_insight.trace import trace_op, trace_span, trace_state

__version__ = "1.0.0.dev0"

__all__ = [
    "__version__",
    "agent_loop_lane_id",
    "agent_loop_session",
    "finish",
    "init",
    "metric_count",
    "metric_gauge",
    "metric_histogram",
    "trace_op",
    "trace_span",
    "trace_state",
    "update_prometheus_config",
]
