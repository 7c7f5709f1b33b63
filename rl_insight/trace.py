"""The calls that report states and spans. None of them ever raises into what it traces."""

from collections.abc import Callable, Mapping
from functools import wraps
from time import monotonic_ns
from types import TracebackType
from typing import Any, TypeVar, overload

from rl_insight.client import client
from rl_insight.faults import Refused
from rl_insight.names import row_name, shown
from rl_insight.spans import Attributes, Span, clean
from rl_insight.states import Lane

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class trace_state:  # noqa: N801 - called like a function, as contextlib.suppress is
    """Context manager: the lane is in the state while the block runs.

    One object may be entered many times, also by several threads and coroutines at once. A lane
    is in one state at a time: who enters the state that holds it joins the interval, which ends
    when all have left; another state is not shown then, and counted. Without `state_lane_id` the
    lane is this process's own, named host-pid. `labels` become attributes of the interval's spans.
    """

    __slots__ = ("_entered", "_labels", "_lane_id", "_state")

    def __init__(self, /, state_name: str, *, state_lane_id: str | int | None = None, **labels: object) -> None:
        self._state = state_name
        self._lane_id = state_lane_id
        self._labels = labels
        self._entered: list[Lane | None] = []

    def __enter__(self) -> None:
        states = client.states
        if states is None:
            self._entered.append(None)
            return
        try:
            lane = states.lanes[self._lane_id]
            self._entered.append(lane if lane.enter(self._state, self._labels) else None)
        except Exception:  # a lane or a state that is new, or no name at all
            self._entered.append(self._enter_slowly())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered and (lane := self._entered.pop()):
            lane.leave()

    def _enter_slowly(self) -> Lane | None:
        client.began()
        states = client.states
        if states is not None:
            with client.guard("trace_state"):
                return states.enter(self._lane_id, self._state, self._labels)
        return None


def trace_span(*, name: str, start_time_ns: int, end_time_ns: int, attributes: Mapping[str, Any] | None = None) -> None:
    """Reports a span of any kind; times in nanoseconds since 1970, the end not before the start."""
    client.began()
    spans = client.spans
    if spans is None:
        return
    with client.guard("trace_span"):
        start, end = _nanoseconds(start_time_ns), _nanoseconds(end_time_ns)
        if end < start:
            raise Refused("bad_span", f"the span {shown(name)} ends before it starts")
        spans.add(Span("span", row_name(name, "span"), start, end, clean(attributes or {})))


def _nanoseconds(time: object) -> int:
    if isinstance(time, int) and 0 <= time < 2**63:
        return int(time)
    raise Refused("bad_span", f"a span's times are whole nanoseconds since 1970, not {shown(time)}")


@overload
def trace_op(name: FunctionT) -> FunctionT: ...


@overload
def trace_op(
    name: str | None = None, *, extra_labels: Callable[[Any], Mapping[str, Any]] | None = None, **static_labels: object
) -> Callable[[FunctionT], FunctionT]: ...


def trace_op(
    name: Any = None, *, extra_labels: Callable[[Any], Mapping[str, Any]] | None = None, **static_labels: object
) -> Any:
    """Decorator: each call of a function, sync or async, becomes a span; bare, with a name, or with labels.

    The span is named `name`, or after the function. `static_labels` are its attributes, and so is
    what `extra_labels` makes of a call's first argument, which is `self` in a method.
    """
    if callable(name):
        return _Op(None, None, {}).decorate(name)
    return _Op(name, extra_labels, static_labels).decorate


class _Op:
    """What all calls of one decorated function share."""

    def __init__(
        self, name: str | None, extra_labels: Callable[[Any], Mapping[str, Any]] | None, labels: dict[str, object]
    ) -> None:
        self._name = name
        self._extra_labels = extra_labels
        self._labels = labels

    def decorate(self, function: Callable[..., Any]) -> Callable[..., Any]:
        from inspect import iscoroutinefunction  # here, as importing it takes longer than the client

        name = str(self._name or getattr(function, "__qualname__", type(function).__name__))

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if client.spans is None:
                return function(*args, **kwargs)
            with _Duration(name, self._attributes(args)):
                return function(*args, **kwargs)

        @wraps(function)
        async def timed_async(*args: Any, **kwargs: Any) -> Any:
            if client.spans is None:
                return await function(*args, **kwargs)
            with _Duration(name, self._attributes(args)):
                return await function(*args, **kwargs)

        return timed_async if iscoroutinefunction(function) else timed

    def _attributes(self, args: tuple[Any, ...]) -> Attributes:
        if self._extra_labels is None or not args:
            return self._labels
        with client.guard("trace_op"):
            return {**self._labels, **self._extra_labels(args[0])}
        return self._labels


class _Duration:
    """The span of one block of code; an exception's type is its attribute `error`."""

    __slots__ = ("_attributes", "_name", "_offset", "_start")

    def __init__(self, name: str, attributes: Attributes) -> None:
        self._name = name
        self._attributes = attributes

    def __enter__(self) -> None:
        client.began()
        source = client.source
        self._offset = source.clock.offset if source else 0
        self._start = monotonic_ns()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end = monotonic_ns()
        spans = client.spans
        if spans is None:
            return
        with client.guard("trace_op"):
            attributes = clean(self._attributes)
            if kind is not None:
                attributes["error"] = kind.__name__
            offset = self._offset
            spans.add(Span("duration", row_name(self._name, "span"), self._start + offset, end + offset, attributes))
