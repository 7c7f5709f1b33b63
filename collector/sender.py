"""Sends the journal to the OTLP endpoint: in order, paced, and again until it is taken.

opentelemetry-sdk's BatchSpanProcessor drops what does not fit its queue in memory, so its exporter
is fed from the journal instead, and a row leaves the journal once the endpoint has taken its spans.
"""

import ipaddress
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from .errors import Refused
from .journal import Chunk, ready
from .logs import fields
from .plan import Plan
from .settings import Settings
from .spans import read_spans
from .telemetry import Telemetry
from .writer import Writer

REQUEST_SECONDS = 10.0
_PATH = "/v1/traces"
_BATCH_BYTES = 2 << 20
_IDLE_SECONDS = 0.5
_LONGEST_PAUSE = 10.0
_NEVER = (400, 413, 415, 422)
"""Answers that mean that these very spans will never be taken."""

_log = logging.getLogger("collector.sender")


class Pace:
    """Lets so many spans a second pass, and a burst of two seconds' worth after a lull."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._allowed = per_second * 2
        self._last = clock()

    def take(self, spans: int) -> float:
        """Takes so many; returns for how many seconds to wait before the next may go."""
        now = self._clock()
        self._allowed = min(self._rate * 2, self._allowed + (now - self._last) * self._rate) - spans
        self._last = now
        return max(0.0, -self._allowed / self._rate)


class Endpoint:
    """The OTLP endpoint, through opentelemetry's exporter; knows the status of its last answer."""

    def __init__(self, url: str) -> None:
        self._session = requests.Session()
        self._session.trust_env = not _is_loopback(url)  # a proxy cannot reach our loopback
        self._session.hooks["response"] = [self._note]
        self.status: int | None = None
        self._exporter = OTLPSpanExporter(
            endpoint=f"{url.rstrip('/').removesuffix(_PATH)}{_PATH}",
            timeout=REQUEST_SECONDS,
            compression=Compression.Gzip,
            session=self._session,
        )

    def send(self, spans: Sequence[ReadableSpan]) -> bool:
        """Whether the endpoint took the spans."""
        self.status = None
        return self._exporter.export(spans) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Ends an attempt that is under way."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _note(self, response: requests.Response, *_: Any, **__: Any) -> None:
        self.status = response.status_code


class Sender:
    """The thread that empties the journal."""

    def __init__(self, writer: Writer, settings: Settings, telemetry: Telemetry) -> None:
        self._writer = writer
        self._settings = settings
        self._telemetry = telemetry
        self._endpoint = Endpoint(settings.otlp_endpoint)
        self._pace = Pace(settings.spans_per_second)
        self._stopping = threading.Event()
        self._deadline: float | None = None
        self._failures = 0
        self._rows: list[int] = []
        """The rows that are being sent."""
        self._unsent: list[ReadableSpan] = []
        """What of them is not sent yet."""
        self._few = False
        """Whether they were less than a batch, so that it is worth to wait for more before the next."""
        self._sent: list[int] = []
        """Rows that are sent and not yet removed from the journal."""
        self._thread = threading.Thread(target=self._work, name="sender", daemon=True)
        telemetry.set_now(exporter_ok=1)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Sends what waits for at most so long, then ends."""
        self._deadline = time.monotonic() + seconds
        self._stopping.set()
        if not self._failures:
            self._thread.join(seconds)
        self._endpoint.close()
        self._thread.join(REQUEST_SECONDS)

    def _work(self) -> None:
        while not self._out_of_time():
            try:
                pause = self._round()
            except Refused:
                pause = _IDLE_SECONDS  # the writer has said so
            except Exception:
                _log.exception("sending spans failed; trying again")
                pause = self._back_off()
            if pause is None or (self._stopping.is_set() and self._failures):
                return
            self._wait(pause)

    def _round(self) -> float | None:
        """Sends a batch; returns the seconds to wait, or None if all is sent and it is time to stop."""
        if not self._unsent:
            chunks = self._writer.inbox.call(self._next).result()
            if not chunks:
                return None if self._stopping.is_set() else _IDLE_SECONDS
            self._rows = [chunk.id for chunk in chunks]
            self._unsent = [span for chunk in chunks for span in read_spans(chunk)]
            self._few = len(self._unsent) < self._settings.span_batch
        batch = self._unsent[: self._settings.span_batch]
        if not self._send(batch):
            return self._back_off()
        self._unsent = self._unsent[len(batch) :]
        if not self._unsent:
            self._sent = self._rows
            self._writer.inbox.call(self._remove_sent).result()
        gather = self._few and not self._stopping.is_set()
        return max(self._pace.take(len(batch)), _IDLE_SECONDS if gather else 0.0)

    def _next(self) -> list[Chunk]:
        """The next rows to send; in the writer's thread."""
        self._remove_sent()
        return ready(self._writer.connection, self._settings.span_batch, _BATCH_BYTES)

    def _remove_sent(self) -> None:
        """Takes the rows that were sent out of the journal; in the writer's thread."""
        if self._sent:
            plan = Plan()
            self._writer.journal.plan_remove(plan, self._writer.connection, self._sent)
            self._writer.carry_out(plan)
            self._sent = []

    def _send(self, batch: Sequence[ReadableSpan]) -> bool:
        """Whether the batch is dealt with: taken, or refused for good span by span."""
        with self._telemetry.export_seconds.time():
            taken = self._endpoint.send(batch)
        if taken:
            self._telemetry.spans("sent", len(batch))
            self._recovered()
            return True
        if self._endpoint.status not in _NEVER:
            return False
        if len(batch) == 1:
            self._telemetry.spans_dropped("refused", 1)
            _log.error(
                "the OTLP endpoint refuses a span", extra=fields(status=self._endpoint.status, span=batch[0].name)
            )
            return True
        half = len(batch) // 2
        return self._send(batch[:half]) and self._send(batch[half:])

    def _back_off(self) -> float:
        self._failures += 1
        self._telemetry.failure("export")
        self._telemetry.set_now(exporter_ok=0)
        if self._failures == 1:
            _log.warning(
                "the OTLP endpoint does not take spans; they wait in the journal",
                extra=fields(endpoint=self._settings.otlp_endpoint, status=self._endpoint.status or "no answer"),
            )
        return min(_LONGEST_PAUSE, 0.5 * 2.0 ** min(self._failures, 10)) * random.uniform(0.75, 1.25)  # noqa: S311

    def _recovered(self) -> None:
        if self._failures:
            _log.info("the OTLP endpoint takes spans again", extra=fields(endpoint=self._settings.otlp_endpoint))
        self._failures = 0
        self._telemetry.set_now(exporter_ok=1)

    def _wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        if self._deadline is None:
            self._stopping.wait(seconds)
        else:
            time.sleep(max(0.0, min(seconds, self._deadline - time.monotonic())))

    def _out_of_time(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
