"""Clocks that a test sets, in place of the process's."""

from dataclasses import dataclass

import pytest

SECOND = 1_000_000_000
NOON = 1_780_000_000 * SECOND


@dataclass
class TimeMachine:
    """Monotonic and wall clock, nanoseconds."""

    monotonic: int = 5_000 * SECOND
    wall: int = NOON

    def sleep(self, seconds: float) -> None:
        self.monotonic += round(seconds * SECOND)
        self.wall += round(seconds * SECOND)

    def step(self, seconds: float) -> None:
        """Somebody sets the system clock."""
        self.wall += round(seconds * SECOND)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in ("clock", "states", "metrics", "trace"):
            monkeypatch.setattr(f"rl_insight.{module}.monotonic_ns", lambda: self.monotonic)
        monkeypatch.setattr("rl_insight.clock.time_ns", lambda: self.wall)
