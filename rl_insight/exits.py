"""The ends of a process, at each of which what is left is sent, within a bound.

At the interpreter's exit; at the end of a multiprocessing child, which skips the interpreter's;
and at SIGTERM, where nobody else handles it. What no one can catch costs at most one interval.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

SIGTERM_VARIABLE = "RL_INSIGHT_SIGTERM"

_watched: set[str] = set()


def watch(flush: Callable[[], None]) -> None:
    """Has `flush` called when this process ends. To be called again in a forked child."""
    if "exit" not in _watched:
        _watched.add("exit")
        atexit.register(flush)
    _watch_multiprocessing(flush)
    if os.environ.get(SIGTERM_VARIABLE) != "0":
        _watch_sigterm(flush)


def _watch_multiprocessing(flush: Callable[[], None]) -> None:
    """Its children leave through os._exit, after its own finalizers; `flush` comes last of these."""
    util = sys.modules.get("multiprocessing.util")
    pid = f"multiprocessing {os.getpid()}"
    if util is not None and pid not in _watched:
        _watched.add(pid)
        util.Finalize(None, flush, exitpriority=-100)


def _watch_sigterm(flush: Callable[[], None]) -> None:
    """Where SIGTERM would simply kill: flush first, then die of it all the same."""

    def flush_and_die() -> None:
        try:
            flush()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        # First, so that a second SIGTERM does not wait.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # In a thread of its own: what this interrupts may hold the lock that the flush waits for.
        threading.Thread(target=flush_and_die, name="rl_insight_sigterm", daemon=True).start()

    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, handle)
