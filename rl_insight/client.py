"""This process's client: on or off, started, finished, forked.

Before the first `init`, calls are kept in memory within a source's limits, as verl registers
scrape targets before it calls `init`; where the environment names the server, the first call
starts the client as a bare `init` would. After `finish` they are kept for the next `init`.
"""

import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING

from rl_insight import faults
from rl_insight.faults import Refused
from rl_insight.metrics import MAX_SERIES, Metrics
from rl_insight.names import text
from rl_insight.source import Run, Source
from rl_insight.spans import Spans
from rl_insight.states import States
from rl_insight.targets import Targets

if TYPE_CHECKING:
    from rl_insight.sender import Sender
    from rl_insight.settings import Settings

URL_VARIABLE = "RL_INSIGHT_SERVER_URL"

FINISH_SECONDS = 5.0
EXIT_SECONDS = 3.0
"""How long `finish`, and the end of the process, wait for what is not sent yet."""

MAX_RUN_NAME = 200


class Client:
    """The one client of a process. `source` and its parts are None while the client is off."""

    __slots__ = (
        "_finished", "_initialised", "_lock", "_sender", "_settings", "metrics", "source", "spans", "states", "targets",
    )  # fmt: skip

    metrics: Metrics | None
    source: Source | None
    spans: Spans | None
    states: States | None
    targets: Targets | None

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._settings: Settings | None = None
        self._sender: Sender | None = None
        self._initialised = False
        self._finished = False
        self._use(Source(MAX_SERIES))

    def init(self, project: object, experiment_name: object, config: object) -> None:
        """Starts the client, or gives one without names those of its run."""
        run = _run(project, experiment_name)
        with self._lock:
            if self._settings is None or not self._initialised:
                self._start(config, run)
                self._initialised = self._settings is not None
            elif run is not None and self.source is not None and self.source.run is None:
                self.source.run = run
            else:
                faults.warn("init_again", "keeps what the first init() said: call finish() before another one")

    def finish(self, seconds: float = FINISH_SECONDS) -> None:
        """Sends what is left, waits for that at most so long, and is as before the first `init`."""
        with self._lock:
            sender = self._sender
            if self._settings is None:
                return
            self._settings = self._sender = None
            self._initialised = False
            self._finished = True
            self._use(Source(MAX_SERIES))
        if sender is not None:
            sender.close(seconds)

    def began(self, *, early: bool = False) -> None:
        """Called when something is reported that was not before: sees to it that it will be sent.

        `early` says that it is in order before `init`.
        """
        if self._sender is not None or self.source is None:
            return
        with self.guard("start"), self._lock:
            if self._settings is not None:  # this is a forked child
                self._send()
            elif not self._finished and os.environ.get(URL_VARIABLE):
                self._start(None, None)
            elif not (self._finished or early):
                faults.warn("before_init", "keeps what is reported in memory until init() is called")

    def guard(self, what: str) -> "Guard":
        """A context that keeps exceptions from the training process: they are logged and counted."""
        return Guard(self, what)

    def _start(self, config: object, run: Run | None) -> None:
        from rl_insight.settings import read  # here, as it imports more than the calls need

        settings = read(config)
        if settings is None:
            if self._settings is None:
                self._use(None)
            return
        source = self.source or Source(settings.max_series)
        source.metrics.max_series = settings.max_series
        source.run = run or source.run
        self._settings = settings
        self._use(source)
        self._send()

    def _send(self) -> None:
        """Starts the thread that sends, or tells it of new settings."""
        if self._sender is not None and self._settings is not None:
            self._sender.settings = self._settings
        elif self.source is not None and self._settings is not None:
            from rl_insight import exits
            from rl_insight.sender import Sender

            exits.watch(self._at_exit)
            sender = Sender(self.source, self._settings)
            sender.start()
            self._sender = sender

    def _at_exit(self) -> None:
        self.finish(EXIT_SECONDS)

    def _use(self, source: Source | None) -> None:
        self.source = source
        self.metrics = source.metrics if source else None
        self.states = source.states if source else None
        self.spans = source.spans if source else None
        self.targets = source.targets if source else None

    def after_fork_in_child(self) -> None:
        """Starts over, with the same settings and run; nothing of the parent's is sent twice.

        Locks may be in the hands of a thread that the child does not have, so none is taken.
        """
        self._lock = threading.RLock()
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.abandon()
        if self.source is not None:
            self.source.abandon()
            self._use(Source(self.source.metrics.max_series, self.source.run))


class Guard:
    """See `Client.guard`."""

    __slots__ = ("_client", "_what")

    def __init__(self, client: Client, what: str) -> None:
        self._client = client
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        source = self._client.source
        if not isinstance(error, Refused):
            error = Refused(f"{self._what}_failed", f"{self._what} raised {type(error).__name__}: {error}")
        if source is not None:
            source.dropped.refuse(error)
        else:
            faults.warn(error.reason, str(error))
        return True


def _run(project: object, experiment_name: object) -> Run | None:
    if project is None and experiment_name is None:
        return None
    return {"project": _run_name(project), "experiment_name": _run_name(experiment_name)}


def _run_name(name: object) -> str:
    return "" if name is None else text(name)[:MAX_RUN_NAME]


client = Client()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=client.after_fork_in_child)
