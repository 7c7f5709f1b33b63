"""The states of an RL run, the lanes they run on and the colours that they have everywhere."""

from generator.fields import Json, fixed_color, override

STATE_SECONDS = "rl_insight_state_seconds_total"
"""Counter of the collector: seconds that a lane spent in a state."""

LANE, STATE = "state_lane_id", "state_name"

ROLLOUT_LANES = f'{LANE}=~"replica_.*"'
TRAINER_LANES = f'{LANE}!~"replica_.*"'

COLORS = (
    # The first that matches wins: what is more special stands first.
    (r"\w*generate", "blue"),
    ("ref_compute_log_prob", "purple"),
    (r"\w*compute_log_prob", "yellow"),
    (r"\w*update\w*", "green"),
    ("train_batch", "dark-green"),
    ("forward_backward", "orange"),
    (r"\w*reward\w*", "red"),
    (r".+", "text"),
)
"""Regex over a state's whole name, and its colour."""


def state_mappings() -> tuple[tuple[str, str], ...]:
    """For panels whose values are states."""
    return tuple((f"^{pattern}$", color) for pattern, color in COLORS)


def state_overrides() -> list[Json]:
    """For panels whose series are named after states, with anything after a space."""
    # Of overrides the last one wins, so they stand the other way round.
    return [
        override(f"^{pattern}( |$)", color=fixed_color(color)) for pattern, color in reversed(COLORS) if pattern != ".+"
    ]
