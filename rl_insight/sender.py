"""The thread that sends a source's reports: how it is started, woken and ended.

Nothing is imported by the thread itself: a process that forked meanwhile would have the half of
a module, for good. So `init` imports this, and with it all that the thread will need.
"""

import threading
from time import monotonic

from rl_insight import faults
from rl_insight.delivery import Delivery, spread
from rl_insight.settings import Settings
from rl_insight.source import Source


class Sender:
    """One daemon thread, which reports a source at an interval until it is closed.

    `settings` may be replaced while it runs; `deadline` is None, or the monotonic time until which
    the source must have said its last.
    """

    def __init__(self, source: Source, settings: Settings) -> None:
        self.settings = settings
        self._delivery = Delivery(source, self)
        self.deadline: float | None = None
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rl_insight", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Has everything sent that is left, and waits for it at most so long."""
        self.deadline = monotonic() + seconds
        self._wake.set()
        if not self._ended.wait(seconds):
            faults.warn("unsent", f"ends with reports unsent, as the server did not take them in {seconds:g} seconds")

    def abandon(self) -> None:
        """Lets go of the parent's connection, in a forked child, which does not have the thread."""
        self._delivery.transport.abandon()

    def _run(self) -> None:
        delivery = self._delivery
        # Many processes start at once, and their first reports need not arrive at once.
        pause = spread(self.settings.interval, 0.0, 0.5)
        while not (delivery.finished or self._is_late()):
            self._wake.wait(pause)
            self._wake.clear()
            try:
                pause = delivery.send()
            except Exception as error:  # a fault of ours must not end all reports, nor stay unseen
                faults.error("sender_failed", f"failed to send a report: {type(error).__name__}: {error}")
                pause = self.settings.interval
        delivery.close()
        if delivery.finished:
            self._ended.set()

    def _is_late(self) -> bool:
        return self.deadline is not None and monotonic() > self.deadline
