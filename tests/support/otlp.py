"""An OTLP/HTTP receiver for tests, on loopback, that decodes what it gets with opentelemetry-proto."""

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span as it came over the wire."""

    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    resource: dict[str, Any]


class OtlpReceiver:
    """`with OtlpReceiver() as receiver:` listens until the block ends; `status` is what it answers."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self.status = 200
        self.refused_names: frozenset[str] = frozenset()
        """A request with a span of such a name is answered 400."""
        self.spans: list[ReceivedSpan] = []
        self.requests = 0
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> "OtlpReceiver":
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                self.send_response(receiver._take(self.path, body))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that was killed in the middle is part of the tests

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def unique(self) -> dict[str, ReceivedSpan]:
        """The spans by trace id, as Tempo would keep them: one that came twice is one."""
        with self._lock:
            return {span.trace_id: span for span in self.spans}

    def _take(self, path: str, body: bytes) -> int:
        if path != "/v1/traces":
            return 404
        request = ExportTraceServiceRequest.FromString(body)
        spans = _spans(request)
        with self._lock:
            self.requests += 1
            if self.status != 200:
                return self.status
            if any(span.name in self.refused_names for span in spans):
                return 400
            self.spans += spans
        return 200


def _spans(request: ExportTraceServiceRequest) -> list[ReceivedSpan]:
    return [
        ReceivedSpan(
            trace_id=span.trace_id.hex(),
            span_id=span.span_id.hex(),
            parent_span_id=span.parent_span_id.hex(),
            name=span.name,
            start_ns=span.start_time_unix_nano,
            end_ns=span.end_time_unix_nano,
            attributes={one.key: _value(one.value) for one in span.attributes},
            resource={one.key: _value(one.value) for one in of_resource.resource.attributes},
        )
        for of_resource in request.resource_spans
        for of_scope in of_resource.scope_spans
        for span in of_scope.spans
    ]


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind) if kind else None
