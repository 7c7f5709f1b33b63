"""Reads the bodies of requests within bounds of size, time and memory."""

import anyio
from starlette.requests import ClientDisconnect, Request

from .errors import Refused

BODY_SECONDS = 30.0
_DRAINED = 8
"""So many times the limit is read and thrown away, so that the client hears why, before the connection is cut."""


class BodyReader:
    """All bodies together hold at most `total` bytes while they are read, one of them at most `limit`."""

    def __init__(self, limit: int, total: int) -> None:
        self._limit = limit
        self._total = total
        self._held = 0

    async def read(self, request: Request) -> bytes:
        """The body. Raises Refused if it is too large, comes too slowly, or too many are on their way."""
        try:
            with anyio.fail_after(BODY_SECONDS):
                return await self._read(request)
        except TimeoutError:
            raise Refused(408, "slow", f"The body did not come within {BODY_SECONDS:.0f} s.") from None
        except ClientDisconnect:
            raise Refused(400, "disconnect", "The client went away before its body was read.") from None

    async def _read(self, request: Request) -> bytes:
        chunks: list[bytes] = []
        size = held = 0
        try:
            async for chunk in request.stream():
                size += len(chunk)
                if size > self._limit:
                    chunks.clear()
                    if size > self._limit * _DRAINED:
                        break
                    continue
                if self._held + len(chunk) > self._total:
                    raise Refused(503, "busy", "Too many reports are on their way; send it again later.")
                self._held, held = self._held + len(chunk), held + len(chunk)
                chunks.append(chunk)
        finally:
            self._held -= held
        if size > self._limit:
            raise Refused(413, "too_large", f"The body is larger than {self._limit} bytes; send less at once.")
        return b"".join(chunks)
