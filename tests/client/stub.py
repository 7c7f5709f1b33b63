"""A stand-in for the collector: keeps every report, and answers as it is told."""

import gzip
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.client.contract import check

Report = dict[str, Any]
Answer = Callable[["Handler", Report], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        stub = self.server.stub
        report = json.loads(gzip.decompress(body)) if body else {}
        with stub.lock:
            stub.bodies.append(body)
            stub.requests.append((self.path, dict(self.headers)))
            stub.connections.append(self.connection)
            answer = stub.script.popleft() if stub.script else stub.answer
        answer(self, report)

    def reply(self, status: int, body: bytes | str | dict[str, Any], **headers: str) -> None:
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        content = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    stub: "Stub"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is what some tests are about."""


def accept(handler: Handler, report: Report) -> None:
    handler.server.stub.accept(report)
    handler.reply(200, {"status": "ok", "acknowledged": report["sequence"], "full": False})


def accept_and_ask_for_everything(handler: Handler, report: Report) -> None:
    handler.server.stub.accept(report)
    handler.reply(200, {"status": "ok", "acknowledged": report["sequence"], "full": True})


def accept_but_hang_up(handler: Handler, report: Report) -> None:
    handler.server.stub.accept(report)
    handler.hang_up()


def hang_up(handler: Handler, report: Report) -> None:
    handler.hang_up()


def hang_up_within_the_body(handler: Handler, report: Report) -> None:
    handler.reply(200, '{"status": "ok", "ackno', Content_Length="5000")
    handler.hang_up()


def status(number: int, body: bytes | str | dict[str, Any] = "", **headers: str) -> Answer:
    return lambda handler, report: handler.reply(number, body, **headers)


def slow(seconds: float, answer: Answer = accept) -> Answer:
    def wait(handler: Handler, report: Report) -> None:
        time.sleep(seconds)
        answer(handler, report)

    return wait


class Stub:
    """The server. `reports` are those accepted, once each; `bodies` all that came, as they came.

    `script` holds answers for the next requests, after which it is `answer` for all.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.bodies: list[bytes] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.connections: list[socket.socket] = []
        self.reports: list[Report] = []
        self.faults: list[str] = []
        self.script: deque[Answer] = deque()
        self.answer: Answer = accept
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.stub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "Stub":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def accept(self, report: Report) -> None:
        """Keeps a report unless its source sent it before, and notes where it breaks the contract."""
        try:
            check(report)
        except AssertionError as error:
            self.faults.append(f"{error} in {report}")
        with self.lock:
            key = report["source"]["id"], report["sequence"]
            if key not in {(known["source"]["id"], known["sequence"]) for known in self.reports}:
                self.reports.append(report)

    def wait(self, condition: Callable[["Stub"], object], seconds: float = 15.0) -> None:
        """Until the condition holds. Raises TimeoutError with what came when it does not."""
        deadline = time.monotonic() + seconds
        while True:
            with self.lock:
                if condition(self):
                    return
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {seconds} s; {len(self.bodies)} requests; reports: {self.reports[-3:]}")
            time.sleep(0.01)

    def sources(self) -> list[str]:
        with self.lock:
            return list(dict.fromkeys(report["source"]["id"] for report in self.reports))

    def series(self, source: str | None = None) -> dict[str, Any]:
        """The last value of each series, as `name{label="value"}`; of a gauge without its time."""
        found: dict[str, Any] = {}
        for report in self._of(source):
            for family in report["metrics"]:
                for labels, *value in family["series"]:
                    shown = ",".join(f'{name}="{text}"' for name, text in sorted(labels.items()))
                    found[f"{family['name']}{{{shown}}}"] = value if family["type"] == "histogram" else value[0]
        return found

    def families(self) -> dict[str, dict[str, Any]]:
        with self.lock:
            return {family["name"]: family for report in self.reports for family in report["metrics"]}

    def spans(self, source: str | None = None) -> list[dict[str, Any]]:
        return [span for report in self._of(source) for span in report["spans"]]

    def totals(self, source: str | None = None) -> dict[tuple[str, str], tuple[float, int, int]]:
        """Seconds, intervals and ignored of each lane and state."""
        rows = [row for report in self._of(source) for row in report["states"]["totals"]]
        return {(lane, state): (seconds, intervals, ignored) for lane, state, seconds, intervals, ignored in rows}

    def targets(self) -> dict[tuple[str, str], dict[str, str]]:
        return {
            (job["job_name"], target["target"]): target["labels"]
            for report in self._of(None)
            for job in report["targets"]
            for target in job["targets"]
        }

    def dropped(self) -> dict[str, int]:
        with self.lock:
            return dict(self.reports[-1]["dropped"]) if self.reports else {}

    def _of(self, source: str | None) -> list[Report]:
        with self.lock:
            return [report for report in self.reports if source in (None, report["source"]["id"])]
