"""What other threads ask of the writer: reports to store and functions to call, in the order they came."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .errors import Refused
from .ingest import Answer

GATHER_SECONDS = 0.005
"""A report waits so long for others, to be stored with them: at most 200 commits a second, however many report."""

T = TypeVar("T")


@dataclass(slots=True)
class Arrived:
    """A report as it came, and the promise of its answer."""

    body: bytes
    encoding: str
    answer: "Future[Answer]" = field(default_factory=Future)


@dataclass(slots=True)
class Call:
    """A function to call, and the promise of its result."""

    do: Callable[[], Any]
    result: "Future[Any]" = field(default_factory=Future)

    def carry_out(self) -> None:
        try:
            self.result.set_result(self.do())
        except Exception as error:  # whoever waits for the result gets it
            self.result.set_exception(error)


class Inbox:
    """A queue whose reports are bounded by bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._queue: queue.SimpleQueue[Arrived | Call | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.reports = 0
        self.bytes = 0

    def submit(self, body: bytes, encoding: str) -> "Future[Answer]":
        """Raises Refused if too much waits already."""
        with self._lock:
            if self.bytes + len(body) > self._limit:
                raise Refused(503, "busy", "Too many reports wait to be stored; send it again later.")
            self.bytes += len(body)
            self.reports += 1
        arrived = Arrived(body, encoding)
        arrived.answer.set_running_or_notify_cancel()  # from here on it is carried out, whoever still waits
        self._queue.put(arrived)
        return arrived.answer

    def call(self, do: Callable[[], T]) -> "Future[T]":
        call = Call(do)
        call.result.set_running_or_notify_cancel()
        self._queue.put(call)
        return call.result

    def close(self) -> None:
        """Makes `take` return None once all before it is taken."""
        self._queue.put(None)

    def take(self, most: int, timeout: float) -> list[Arrived | Call] | None:
        """What waits, or what comes within so many seconds; None at the end."""
        try:
            first = self._queue.get(timeout=timeout)
        except queue.Empty:
            return []
        if first is None:
            return None
        if isinstance(first, Arrived):
            time.sleep(GATHER_SECONDS)
        items = [first]
        while len(items) < most and not self._queue.empty():
            item = self._queue.get_nowait()
            if item is None:
                self._queue.put(None)
                break
            items.append(item)
        return items

    def taken(self, arrived: list[Arrived]) -> None:
        """Makes room for others."""
        with self._lock:
            self.reports -= len(arrived)
            self.bytes -= sum(len(one.body) for one in arrived)
