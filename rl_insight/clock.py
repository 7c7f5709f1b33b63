"""Wall-clock times that a step of the system clock cannot tear apart.

Everything is measured on the monotonic clock. A wall-clock time is a monotonic one plus an
offset, taken once; so what is measured with one offset never has a negative length, and pieces
of it abut to the nanosecond. Before each report the offset is compared with the system clock,
and follows where that was set by more than `STEP_NS`. An interval that is open keeps the offset
it began with.
"""

from time import monotonic_ns, time_ns

STEP_NS = 50_000_000
"""Less is taken for noise of the measurement; NTP's slewing moves both clocks alike."""


class Clock:
    """Turns monotonic nanoseconds into nanoseconds since 1970."""

    __slots__ = ("offset",)

    def __init__(self) -> None:
        self.offset = _offset()

    def wall(self, monotonic: int) -> int:
        return monotonic + self.offset

    def now(self) -> int:
        return self.wall(monotonic_ns())

    def follow(self) -> None:
        """Takes over a step of the system clock, for what begins from now on."""
        offset = _offset()
        if abs(offset - self.offset) > STEP_NS:
            self.offset = offset


def _offset() -> int:
    # The tightest of three, as the thread may be paused between two readings.
    return min(_reading() for _ in range(3))[1]


def _reading() -> tuple[int, int]:
    before = monotonic_ns()
    wall = time_ns()
    after = monotonic_ns()
    return after - before, wall - (before + after) // 2
