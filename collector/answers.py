"""Answers of the HTTP API."""

from typing import Any

import msgspec
from starlette.responses import Response

from .errors import RETRY_SECONDS, Refused

_encode = msgspec.json.Encoder().encode


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(_encode(content), status, headers, "application/json")


def refusal(refused: Refused) -> Response:
    """An error as a status and one JSON sentence."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if refused.later else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return json_answer({"status": "error", "reason": refused.sentence}, refused.status, headers)
