"""One life of a process as the collector sees it, and all that it has to report."""

import os
import threading
from typing import TypedDict

from rl_insight.clock import Clock
from rl_insight.faults import Dropped
from rl_insight.metrics import Metrics
from rl_insight.names import text
from rl_insight.spans import Spans
from rl_insight.states import States
from rl_insight.targets import Targets


class Run(TypedDict):
    """The run whose data this is, as the trainer's process was told."""

    project: str
    experiment_name: str


class Source:
    """What one process, or its forked child, reports between an `init` and its `finish`.

    One lock guards all of it. It is re-entrant, as a signal handler or a finalizer may report
    something while the thread that it interrupts does.
    """

    __slots__ = ("clock", "dropped", "id", "lock", "metrics", "pid", "run", "spans", "start_ns", "states", "targets")

    def __init__(self, max_series: int, run: Run | None = None) -> None:
        self.id = os.urandom(16).hex()
        self.pid = os.getpid()
        self.run = run
        self.clock = Clock()
        self.start_ns = self.clock.now()
        self.lock = threading.RLock()
        self.dropped = Dropped(self.lock)
        self.metrics = Metrics(self.lock, self.dropped.refuse, max_series)
        self.spans = Spans(self.lock, self.dropped)
        self.states = States(self.lock, self.clock, self.spans, self._default_lane)
        self.targets = Targets(self.lock, self.dropped.refuse)

    def abandon(self) -> None:
        """In a forked child: lets who entered a lane in the parent leave it, to no effect."""
        self.states.lock = threading.RLock()
        self.states.spans = Spans(self.states.lock, Dropped(self.states.lock))

    def _default_lane(self) -> str:
        return f"{host()}-{self.pid}"


def host() -> str:
    """This machine's name."""
    import socket  # here, as a process that imports this may never need it

    return text(socket.gethostname())
