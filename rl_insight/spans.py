"""Spans that wait to be sent, within bounds of number and memory."""

import threading
from collections import deque
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple, Protocol

from rl_insight.faults import Dropped
from rl_insight.names import non_finite, text

MAX_SPANS = 20_000
MAX_BYTES = 32 * 1024 * 1024
MAX_ATTRIBUTES = 64
MAX_ATTRIBUTE_NAME = 200
MAX_ATTRIBUTE_VALUE = 8192

_BARE_BYTES = 300
"""About what a span without attributes takes."""

Attributes = Mapping[str, object]

_KEPT_TYPES = frozenset({int, float, bool})


class Span(NamedTuple):
    """A span that is no state's; times in nanoseconds since 1970, attributes as they are sent."""

    kind: str
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes


Piece = tuple["LaneName", str, int, int, int, bool, Attributes]
"""A piece of a state's interval: lane, state, start, end, number of the interval on its lane, whether the
interval goes on, attributes as `lasting` leaves them. A bare tuple, as one is made on the hot path."""


class LaneName(Protocol):
    """What a piece needs to know of its lane: its name, and a number that no other lane of the source has."""

    name: str
    number: int


class Spans:
    """The spans of one source that are not in a report yet. When there are too many the oldest go, counted."""

    __slots__ = ("_bytes", "_dropped", "_lock", "_pieces", "_spans")

    def __init__(self, lock: threading.RLock, dropped: Dropped) -> None:
        self._lock = lock
        self._dropped = dropped
        self._pieces: deque[Piece] = deque()
        self._spans: deque[tuple[Span, int]] = deque()
        self._bytes = 0

    def add_piece(self, piece: Piece) -> None:
        """Takes a piece of an interval. To be called under the source's lock."""
        self._pieces.append(piece)
        if len(self._pieces) + len(self._spans) > MAX_SPANS:
            self._drop_oldest()

    def add(self, span: Span) -> None:
        size = _BARE_BYTES + sum(map(_size, span.attributes.items()))
        with self._lock:
            self._spans.append((span, size))
            self._bytes += size
            while self._bytes > MAX_BYTES or len(self._pieces) + len(self._spans) > MAX_SPANS:
                self._drop_oldest()

    def take(self) -> Piece | Span | None:
        """The next span, which is no longer waiting then; None where there is none."""
        with self._lock:
            if self._pieces:
                return self._pieces.popleft()
            return self._take_span() if self._spans else None

    def __len__(self) -> int:
        return len(self._pieces) + len(self._spans)

    def _take_span(self) -> Span:
        span, size = self._spans.popleft()
        self._bytes -= size
        return span

    def _drop_oldest(self) -> None:
        """Makes room, from whichever there is more of."""
        self._dropped.add("spans_full")
        if self._bytes > MAX_BYTES or len(self._spans) > len(self._pieces):
            self._take_span()
        else:
            self._pieces.popleft()


def _size(item: tuple[str, object]) -> int:
    name, value = item
    return 100 + len(name) + (len(value) if isinstance(value, str) else 0)


def lasting(labels: Attributes) -> Attributes:
    """Labels that may wait to be sent as they are, or copies that may: nothing large, nothing that changes."""
    for value in labels.values():
        kind = value.__class__
        if len(value) > 200 if kind is str else kind not in _KEPT_TYPES:  # type: ignore[arg-type]
            return clean(labels)
    return labels


def clean(attributes: Attributes) -> dict[str, str | int | float | bool]:
    """Attributes as a span carries them: within limits, without None, other types as strings."""
    cleaned: dict[str, str | int | float | bool] = {}
    for name, value in attributes.items():
        if value is not None and (key := text(name)[:MAX_ATTRIBUTE_NAME]):
            cleaned[key] = _plain(value)
        if len(cleaned) == MAX_ATTRIBUTES:
            break
    return cleaned


def _plain(value: object) -> str | int | float | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else non_finite(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(value)
    return _cut(value)


def _cut(value: object) -> str:
    string = text(value)
    return string if len(string) <= MAX_ATTRIBUTE_VALUE else string[: MAX_ATTRIBUTE_VALUE - 1] + "…"
