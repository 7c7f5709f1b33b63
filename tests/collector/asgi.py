"""Calls an ASGI application without a server: one request, one event loop."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

HOST = "testserver"


@dataclass(frozen=True, slots=True)
class Answer:
    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


class Client:
    """Requests to an application; errors that it does not answer are raised."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def get(self, path: str, **request: Any) -> Answer:
        return self.request("GET", path, **request)

    def post(self, path: str, **request: Any) -> Answer:
        return self.request("POST", path, **request)

    def delete(self, path: str, **request: Any) -> Answer:
        return self.request("DELETE", path, **request)

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        content: bytes = b"",
        json: Any = None,
    ) -> Answer:
        sent = {"host": HOST, **(headers or {})}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": urlencode(params or {}).encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), _bytes(value)) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": (HOST, 80),
            "state": {},
        }
        return asyncio.run(_call(self._app, scope, content if json is None else _dumped(json)))


async def _call(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await app(scope, receive, send)
    head = messages[0]
    headers = {name.decode().lower(): value.decode() for name, value in head["headers"]}
    return Answer(head["status"], headers, b"".join(message.get("body", b"") for message in messages[1:]))


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _dumped(content: Any) -> bytes:
    return json.dumps(content).encode()
