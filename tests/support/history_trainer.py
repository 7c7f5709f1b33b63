"""What the collector exposes of a simulated run: trainer scalars and seconds in each state."""

import random
from collections.abc import Collection, Sequence
from pathlib import Path

from .history_schedule import Schedule, Step, busy_seconds
from .openmetrics import Exposition, Values
from .series import Labels

NAMESPACE = "rl_insight_monitor_"
TABLE = Path(__file__).parents[1] / "data" / "trainer_series.tsv"
FIRST_STEP = 120
"""Steps that a run had done before the history begins."""

_Row = tuple[str, str, float, float, float]


def trainer_rows(tags: Collection[str]) -> list[_Row]:
    rows = (line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    return [
        (name, tag, float(first), float(last), float(noise)) for name, tag, first, last, noise in rows if tag in tags
    ]


def scalars(
    out: Exposition,
    target: Labels,
    schedule: Schedule,
    *,
    tags: Collection[str],
    seed: int,
    scale: float = 1.0,
    mismatch: bool = False,
) -> None:
    """The trainer's gauges, each with the value of the last step that has ended.

    `scale` sets the run's rewards and lengths apart from another's. With `mismatch` the rollout's
    token probabilities leave the trainer's in the last third of the history.
    """
    rng = random.Random(seed)
    steps = schedule.steps
    for name, _, first, last, noise in trainer_rows(tags):
        key = name.removeprefix(NAMESPACE)
        measured = [_value(key, step, first, last, noise, len(steps), rng) for step in steps]
        if key.startswith(("critic_rewards", "critic_score", "val_", "response_length_mean")):
            measured = [value * scale for value in measured]
        if mismatch and key.startswith("training_rollout_probs_diff_m"):
            measured = [_drift(value, index / len(steps)) for index, value in enumerate(measured)]
        if key.startswith("val_"):
            measured = [measured[max(0, index - step.number % 10)] for index, step in enumerate(steps)]
        out.gauge(name, target, _held(steps, measured, out))


def states(out: Exposition, target: Labels, schedule: Schedule) -> None:
    """`rl_insight_state_seconds_total` of every lane and state."""
    pairs = dict.fromkeys((interval.lane, interval.state) for interval in schedule.intervals)
    times = [float(time - out.times[0]) for time in out.times]
    for lane, state in pairs:
        intervals = [interval for interval in schedule.lane(lane) if interval.state == state]
        labels = {**target, "state_lane_id": lane, "state_name": state}
        out.counter("rl_insight_state_seconds_total", labels, busy_seconds(intervals, times))


def _value(key: str, step: Step, first: float, last: float, noise: float, count: int, rng: random.Random) -> float:
    if key == "training_global_step":
        return FIRST_STEP + step.number
    measured = step.timings.get(key.removeprefix("timing_s_")) if key.startswith("timing_s_") else None
    if key == "perf_time_per_step":
        measured = step.timings["step"]
    value = first + (last - first) * step.number / count
    if measured is not None:
        value = measured
    else:
        value += rng.gauss(0.0, noise)
    return max(0.0, value) if min(first, last) >= 0 else value


def _drift(value: float, progress: float) -> float:
    return value + 0.06 * max(0.0, progress - 0.5)


def _held(steps: Sequence[Step], measured: Sequence[float], out: Exposition) -> Values:
    values: list[float | None] = []
    done = -1
    for time in out.times:
        while done + 1 < len(steps) and steps[done + 1].end <= time - out.times[0]:
            done += 1
        values.append(measured[done] if done >= 0 else measured[0])
    return values
