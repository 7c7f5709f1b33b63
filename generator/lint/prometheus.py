"""Prometheus's HTTP API, as far as running queries needs it."""

import base64
import json
import math
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from generator.lint.findings import LintInputError

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""A larger answer to one query is not read: no panel could draw it."""


class QueryError(Exception):
    """Prometheus refused a query; the message is its own."""


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a result: its labels, and its values as (Unix seconds, value)."""

    labels: dict[str, str]
    values: tuple[tuple[float, float], ...]

    @property
    def has_numbers(self) -> bool:
        return any(not math.isnan(value) for _, value in self.values)


class Prometheus:
    """A Prometheus, or what speaks its API, at a URL: `http://host:9090`, or `https://user:password@host/prefix`.

    Its calls raise QueryError when a query is refused, LintInputError when there is no Prometheus to ask.
    """

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        parts = _address(url)
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._timeout = timeout
        self._headers = {"Accept": "application/json"}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
        self._opener = _opener()

    def check(self) -> None:
        """Raises LintInputError unless a Prometheus answers."""
        try:
            self.instant("1", 0.0)
        except QueryError as fault:
            raise LintInputError(f"{self.url} does not answer as a Prometheus: {fault}") from fault

    def instant(self, query: str, time: float) -> tuple[Series, ...]:
        return _result(self._call("query", {"query": query, "time": repr(time)}))

    def range(self, query: str, start: float, end: float, step: float) -> tuple[Series, ...]:
        bounds = {"start": repr(start), "end": repr(end), "step": repr(step)}
        return _result(self._call("query_range", {"query": query, **bounds}))

    def label_names(self, selector: str, start: float, end: float) -> list[str]:
        return self._names("labels", selector, start, end)

    def label_values(self, label: str, selector: str, start: float, end: float) -> list[str]:
        """The values of a label over all series, or those that a selector chooses."""
        return self._names(f"label/{quote(label, safe='')}/values", selector, start, end)

    def _names(self, path: str, selector: str, start: float, end: float) -> list[str]:
        bounds = {"start": repr(start), "end": repr(end)}
        query = urlencode(bounds | ({"match[]": selector} if selector else {}))
        data = self._call(f"{path}?{query}", None)
        if not isinstance(data, list):
            raise QueryError("the answer is no list of names")
        return [str(name) for name in data]

    def _call(self, path: str, form: dict[str, str] | None) -> Any:
        """The `data` of an answer. With a form by POST, since a query may be too long for a URL."""
        body = urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", body, self._headers)  # noqa: S310  http(s) only, see __init__
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return _data(response.read(MAX_ANSWER_BYTES + 1))
        except urllib.error.HTTPError as fault:
            with fault:
                raise self._refusal(fault) from fault
        except TimeoutError as fault:
            raise QueryError(f"no answer within {self._timeout:g} s") from fault
        except (OSError, HTTPException) as fault:
            reason = getattr(fault, "reason", None) or fault
            raise LintInputError(f"Prometheus at {self.url} cannot be reached: {reason}") from fault

    def _refusal(self, fault: urllib.error.HTTPError) -> Exception:
        if fault.code in (301, 302, 303, 307, 308):
            return LintInputError(f"{self.url} redirects to {fault.headers.get('Location', 'elsewhere')}; give that")
        if fault.code in (401, 403):
            return LintInputError(
                f"Prometheus at {self.url} refuses the login ({fault.code}); write it as https://user:password@host"
            )
        try:
            return QueryError(str(json.loads(fault.read(MAX_ANSWER_BYTES))["error"]))
        except (ValueError, KeyError, TypeError, RecursionError, OSError, HTTPException):
            return QueryError(f"{self.url} answers {fault.code} {fault.reason}")


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        shown = url.rpartition("@")[2]
        raise LintInputError(f"{shown!r} is no address of a Prometheus; write it as http://host:9090")
    return parts


def _opener() -> urllib.request.OpenerDirector:
    """Opens http and https only, and follows no redirect: a form sent on would lose its query."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _data(content: bytes) -> Any:
    if len(content) > MAX_ANSWER_BYTES:
        raise QueryError(f"the answer is over {MAX_ANSWER_BYTES // 1024 // 1024} MB")
    try:
        return json.loads(content)["data"]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise QueryError("the answer is not Prometheus's JSON") from fault


def _result(data: Any) -> tuple[Series, ...]:
    try:
        return tuple(_series(data["resultType"], data["result"]))
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise QueryError("the answer is not a result as Prometheus writes it") from fault


def _series(kind: str, result: Any) -> Iterator[Series]:
    if kind in ("scalar", "string"):
        value = math.nan if kind == "string" else float(result[1])
        yield Series({}, ((float(result[0]), value),))
        return
    for one in result:
        samples = one["values"] if "values" in one else [one["value"]] if "value" in one else []
        yield Series(dict(one["metric"]), tuple((float(at), float(value)) for at, value in samples))
