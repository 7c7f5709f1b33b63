"""What goes wrong: each kind is logged once in a process, and what was thrown away is counted."""

import threading

_logged: set[str] = set()


class Refused(Exception):  # noqa: N818 - says what happened to the caller's data
    """Input that cannot be reported: `reason` is its key in a report's `dropped`, the text says why."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class Dropped:
    """How much a source threw away since it began, by reason."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._counts: dict[str, int] = {}

    def add(self, reason: str, amount: int = 1) -> None:
        with self._lock:
            self._counts[reason] = self._counts.get(reason, 0) + amount

    def totals(self) -> dict[str, int]:
        """A copy of the counts."""
        with self._lock:
            return dict(self._counts)

    def refuse(self, refused: Refused) -> None:
        """Counts refused input and logs the first of its kind. Not to be called under the source's lock."""
        self.add(refused.reason)
        warn(refused.reason, f"dropped what was reported: {refused}; more of this kind is counted, not logged")


def warn(kind: str, sentence: str) -> None:
    """Logs a warning, unless this process has already logged one of that kind."""
    _log_once(kind, "WARNING", sentence)


def error(kind: str, sentence: str) -> None:
    """Logs an error, unless this process has already logged one of that kind."""
    _log_once(kind, "ERROR", sentence)


def _log_once(kind: str, level: str, sentence: str) -> None:
    if kind in _logged:
        return
    _logged.add(kind)
    import logging  # here, as importing it costs more than the rest of the client

    logging.getLogger("rl_insight").log(getattr(logging, level), "rl_insight %s", sentence)
