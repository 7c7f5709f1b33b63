"""When each lane of a simulated run is in which state, in seconds since the history's start."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

LENGTH = 3600.0
"""Seconds of history."""


@dataclass(frozen=True, slots=True)
class Interval:
    lane: str
    state: str
    start: float
    end: float

    @property
    def open(self) -> bool:
        """Still going on when the history ends."""
        return self.end >= LENGTH


@dataclass(frozen=True, slots=True)
class Step:
    """One training step: when it ended and what the trainer measured in it, in seconds."""

    number: int
    end: float
    timings: dict[str, float]


@dataclass(slots=True)
class Schedule:
    intervals: list[Interval] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def add(self, lane: str, state: str, start: float, end: float) -> None:
        if start < LENGTH:
            self.intervals.append(Interval(lane, state, round(start, 3), round(min(end, LENGTH), 3)))

    def lane(self, lane: str) -> list[Interval]:
        return [interval for interval in self.intervals if interval.lane == lane]


def sync(
    *,
    seed: int,
    generate: str,
    replicas: int,
    ranks: int,
    seconds: float = 17.0,
    slow: Sequence[int] = (),
    absent: Sequence[tuple[int, float, float]] = (),
) -> Schedule:
    """Rollout and training take turns; a slow replica takes twice as long, and all wait for it.

    `absent` lists replicas that generate nothing between two times, since they restart.
    """
    rng = random.Random(seed)
    schedule = Schedule()
    now, number = 0.0, 0
    while now < LENGTH:
        number += 1
        began = now
        now += _generate(schedule, rng, generate, replicas, now, seconds, slow, absent)
        gen = now - began
        now += 1.5
        timings = {"gen": gen}
        for state, timing, mean in (
            ("actor_compute_log_prob", "old_log_prob", 5.0),
            ("ref_compute_log_prob", "ref", 4.0),
            ("actor_update", "update_actor", 13.0),
        ):
            longest = _on_ranks(schedule, rng, state, ranks, now, mean)
            timings[timing] = longest
            now += longest + 0.4
        timings["update_weights"] = 2.5 + rng.random()
        now += timings["update_weights"]
        if number % 10 == 0:
            timings["testing"] = _generate(schedule, rng, generate, replicas, now, 12.0, slow, absent)
            now += timings["testing"]
        timings["step"] = now - began
        schedule.steps.append(Step(number, now, timings))
    return schedule


def separate_async(*, seed: int, generate: str, replicas: int, ranks: int) -> Schedule:
    """Replicas generate for a quarter of an hour without a gap while the ranks train beside them."""
    rng = random.Random(seed)
    schedule = Schedule()
    for replica in range(replicas):
        now = 2.0 * replica
        while now < LENGTH:
            end = now + rng.uniform(780.0, 1000.0)
            schedule.add(f"replica_{replica}", generate, now, end)
            now = end + rng.uniform(20.0, 60.0)
    now, number = 20.0, 0
    while now < LENGTH:
        number += 1
        began = now
        timings = {"wait_for_enough_samples": rng.uniform(8.0, 18.0)}
        now += timings["wait_for_enough_samples"]
        for state, timing, mean in (
            ("actor_compute_log_prob", "old_log_prob", 8.0),
            ("ref_compute_log_prob", "ref", 6.0),
            ("actor_update", "update_actor", 27.0),
        ):
            timings[timing] = _on_ranks(schedule, rng, state, ranks, now, mean)
            now += timings[timing] + 0.4
        if number % 4 == 0:
            timings["param_sync"] = 3.5 + rng.random()
            now += timings["param_sync"]
        timings["step"] = now - began
        schedule.steps.append(Step(number, now, timings))
    return schedule


def busy_seconds(intervals: Iterable[Interval], times: Sequence[float]) -> list[float]:
    """Seconds that a lane's intervals of one state, which do not overlap, cover up to each time."""
    spans = sorted((interval.start, interval.end) for interval in intervals)
    result, done, following = [], 0.0, 0
    for time in times:
        while following < len(spans) and spans[following][1] <= time:
            done += spans[following][1] - spans[following][0]
            following += 1
        partial = max(0.0, time - spans[following][0]) if following < len(spans) else 0.0
        result.append(round(done + partial, 3))
    return result


def _generate(
    schedule: Schedule,
    rng: random.Random,
    state: str,
    replicas: int,
    now: float,
    seconds: float,
    slow: Sequence[int],
    absent: Sequence[tuple[int, float, float]],
) -> float:
    longest = 0.0
    for replica in range(replicas):
        took = seconds * (2.0 if replica in slow else 1.0) * rng.uniform(0.92, 1.08)
        if any(who == replica and now < until and now + took > since for who, since, until in absent):
            continue
        schedule.add(f"replica_{replica}", state, now, now + took)
        longest = max(longest, took)
    return longest


def _on_ranks(schedule: Schedule, rng: random.Random, state: str, ranks: int, now: float, mean: float) -> float:
    longest = 0.0
    for rank in range(ranks):
        took = mean * rng.uniform(0.95, 1.05)
        schedule.add(f"rank_{rank}", state, now, now + took)
        longest = max(longest, took)
    return longest
