"""Stands before the HTTP API: the token, and pages of other sites in a browser on this machine."""

import hmac
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from .answers import refusal
from .errors import Refused
from .telemetry import Telemetry

OPEN_PATHS = ("/healthz", "/metrics")
"""What needs no token."""


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, token: str, telemetry: Telemetry) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode() if token else b""
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(Request(scope))
            except Refused as refused:
                self._telemetry.refused(refused.reason)
                await refusal(refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, request: Request) -> None:
        # Not request.url, which older versions of starlette build from the Host header, hence from what anyone sends.
        if request.scope["path"] not in OPEN_PATHS and self._expected:
            given = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(given, self._expected):
                raise Refused(
                    401, "token", "The bearer token is missing or wrong; set RL_INSIGHT_TOKEN to the server's."
                )
        origin = request.headers.get("origin")
        if origin and request.method != "GET" and urlsplit(origin).netloc != request.headers.get("host"):
            raise Refused(403, "origin", "A web page of another site may not change anything here.")
