"""One kept HTTP connection to the collector."""

import http.client
import os
from typing import NamedTuple
from urllib.parse import SplitResult

CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 10.0
MAX_ANSWER = 64 * 1024
MAX_RETRY_AFTER = 60.0

"".encode("idna")  # imports the codec, which looking up a host would do in the thread: see sender.py

PATH = "/api/v1/events"


class Unreachable(Exception):  # noqa: N818 - says what the server is
    """No answer came; the text says why, and never holds a token."""


class Answer(NamedTuple):
    """What the server said; `retry_after` in seconds where it asked for a pause."""

    status: int
    body: bytes
    retry_after: float | None


class Transport:
    """Posts to one server over one connection, which is made anew when it breaks.

    Proxy variables are not heeded: the collector stands in the cluster, or behind a tunnel of its own.
    """

    def __init__(self, url: SplitResult) -> None:
        self._url = url
        self._path = url.path.rstrip("/") + PATH
        self._connection: http.client.HTTPConnection | None = None

    def post(self, body: bytes, token: str, seconds: float | None) -> Answer:
        """Posts a compressed report, waiting less where only `seconds` are left. Raises Unreachable."""
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        kept = self._connection is not None
        try:
            try:
                return self._exchange(body, headers, seconds)
            except ConnectionError:
                # A kept connection may have been closed meanwhile; a new one tells whether the server is there.
                if not kept:
                    raise
                return self._exchange(body, headers, seconds)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def abandon(self) -> None:
        """In a forked child: closes its copy of the socket, but not the reader, which may be locked for ever."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.sock is not None:
            os.close(connection.sock.detach())

    def _exchange(self, body: bytes, headers: dict[str, str], seconds: float | None) -> Answer:
        try:
            connection = self._open(seconds)
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            content = response.read(MAX_ANSWER + 1)
        except BaseException:
            self.close()
            raise
        if len(content) > MAX_ANSWER or response.will_close:
            self.close()
        return Answer(response.status, content, _seconds(response.getheader("Retry-After")))

    def _open(self, seconds: float | None) -> http.client.HTTPConnection:
        """The connection, ready to be used, with its timeouts set."""
        connection = self._connection
        if connection is None:
            connection = self._connection = _connection(self._url, _within(CONNECT_SECONDS, seconds))
            connection.connect()
        if connection.sock is not None:
            connection.sock.settimeout(_within(ANSWER_SECONDS, seconds))
        return connection


def _connection(url: SplitResult, timeout: float) -> http.client.HTTPConnection:
    host = url.hostname or ""
    if url.scheme == "https":
        return http.client.HTTPSConnection(host, url.port, timeout=timeout)
    return http.client.HTTPConnection(host, url.port, timeout=timeout)


def _within(limit: float, seconds: float | None) -> float:
    return limit if seconds is None else max(0.05, min(limit, seconds))


def _seconds(header: str | None) -> float | None:
    """A Retry-After in seconds, within its bound; None for one that is a date."""
    if header is None or not header.isascii() or not header.strip().isdigit():
        return None
    return min(float(header[:10]), MAX_RETRY_AFTER)
