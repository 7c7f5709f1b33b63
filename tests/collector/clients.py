"""Processes that report as the client does: totals, numbered reports, sent again until they are acknowledged."""

import http.client
import json
import multiprocessing
import time
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from .reports import RUN, body, counter, report, state_span

_HEADERS = {"Content-Encoding": "gzip", "Content-Type": "application/json"}


class Load:
    """Processes that report as fast as they can, each a counter and spans of its own, until `finish`."""

    def __init__(self, url: str, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._stop: Event = context.Event()
        self._results: Any = context.Queue()
        arguments = (url, self._stop, self._results)
        self._processes = [
            context.Process(target=_report, args=(number, *arguments), daemon=True) for number in range(processes)
        ]

    def __enter__(self) -> "Load":
        for process in self._processes:
            process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
            process.join()

    def finish(self, seconds: float = 30) -> dict[int, tuple[float, int]]:
        """What each process called its counter with in all, and how many spans it made; all acknowledged."""
        self._stop.set()
        results = [self._results.get(timeout=seconds) for _ in self._processes]
        return {worker: (total, spans) for worker, total, spans in results}


def _report(worker: int, url: str, stop: Event, results: Any) -> None:
    sequence = spans = 0
    total = 0.0
    while not stop.is_set():
        sequence += 1
        total += 1
        spans += 2
        content = report(
            worker + 1,
            sequence,
            run=RUN,
            metrics=[counter("work_total", total, worker=str(worker))],
            spans=[state_span(number) for number in (spans - 1, spans)],
        )
        _send_until_acknowledged(url, body(content), sequence)
    results.put((worker, total, spans))


def _send_until_acknowledged(url: str, content: bytes, sequence: int) -> None:
    while True:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
        try:
            connection.request("POST", "/api/v1/events", content, _HEADERS)
            answer = connection.getresponse()
            if answer.status == 200 and json.load(answer)["acknowledged"] == sequence:
                return
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.02)
        finally:
            connection.close()


def register_targets(url: str, worker: int) -> None:
    """Registers ten scrape targets, one after another."""
    for number in range(10):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        connection.request(
            "POST", "/api/v1/prometheus/targets", json.dumps({"targets": [f"10.0.{worker}.{number}:80"]})
        )
        if connection.getresponse().status != 200:
            raise RuntimeError("a registration was refused")
        connection.close()
