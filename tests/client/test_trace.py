"""Spans of decorated functions and of programs that measure themselves."""

import asyncio
import inspect
import math
from typing import Any

import pytest

from rl_insight import trace_op, trace_span, trace_state
from rl_insight.client import client
from tests.client.reading import Reading


def spans() -> list[dict[str, Any]]:
    return [span for report in Reading().reports() for span in report["spans"]]


def dropped() -> dict[str, int]:
    assert client.source is not None
    return client.source.dropped.totals()


def test_signatures() -> None:
    assert list(inspect.signature(trace_state).parameters) == ["state_name", "state_lane_id", "labels"]
    assert list(inspect.signature(trace_op).parameters) == ["name", "extra_labels", "static_labels"]
    assert list(inspect.signature(trace_span).parameters) == ["name", "start_time_ns", "end_time_ns", "attributes"]


class Worker:
    rank = 17

    @trace_op
    def bare(self, value: int) -> int:
        """Doubles."""
        return 2 * value

    @trace_op("named", extra_labels=lambda worker: {"rank": worker.rank}, role="actor")
    async def asynchronous(self) -> str:
        await asyncio.sleep(0.001)
        return "done"

    @trace_op(extra_labels=lambda worker: {"bad": worker.absent}, role="actor")
    def failing(self) -> None:
        raise LookupError("oh")


def test_decorated_functions_work_as_before_and_become_spans() -> None:
    worker = Worker()
    assert worker.bare(21) == 42
    assert worker.bare.__doc__ == "Doubles."
    assert inspect.iscoroutinefunction(worker.asynchronous)
    assert asyncio.run(worker.asynchronous()) == "done"
    with pytest.raises(LookupError, match="oh"):
        worker.failing()
    found = spans()
    assert [(span["kind"], span["name"], span["attributes"]) for span in found] == [
        ("duration", "Worker.bare", {}),
        ("duration", "named", {"role": "actor", "rank": 17}),
        ("duration", "Worker.failing", {"role": "actor", "error": "LookupError"}),
    ]
    assert found[1]["end_ns"] - found[1]["start_ns"] >= 1_000_000
    assert dropped() == {"trace_op_failed": 1}


def test_a_decorated_function_without_arguments_has_no_extra_labels() -> None:
    @trace_op("op", extra_labels=lambda me: {"me": me})
    def function(*arguments: int) -> tuple[int, ...]:
        return arguments

    assert (function(), function(5, 6)) == ((), (5, 6))
    assert [span["attributes"] for span in spans()] == [{}, {"me": 5}]


def test_a_span_as_it_is_given() -> None:
    attributes = {"text": "x", "number": 3, "share": 0.5, "flag": True, "none": None, "list": ["a"], "": "no name"}
    trace_span(name="agent_task", start_time_ns=10, end_time_ns=20, attributes=attributes)
    assert spans() == [
        {
            "number": 1,
            "kind": "span",
            "name": "agent_task",
            "start_ns": 10,
            "end_ns": 20,
            "attributes": {"text": "x", "number": 3, "share": 0.5, "flag": True, "list": "['a']"},
        }
    ]


def test_attributes_are_held_to_what_json_and_limits_allow() -> None:
    trace_span(
        name="odd",
        start_time_ns=1,
        end_time_ns=1,
        attributes={
            "nan": math.nan,
            "inf": math.inf,
            "huge": 10**30,
            "long": "x" * 10_000,
            "k" * 300: 1,
            "half": "\ud83d",
        },
    )
    trace_span(name="many", start_time_ns=1, end_time_ns=1, attributes={str(number): 1 for number in range(100)})
    first, second = spans()
    assert (first["attributes"]["nan"], first["attributes"]["inf"]) == ("NaN", "+Inf")
    assert first["attributes"]["huge"] == str(10**30)
    assert first["attributes"]["half"] == "?"
    assert len(first["attributes"]["long"]) == 8_192
    assert "k" * 200 in first["attributes"]
    assert len(second["attributes"]) == 64


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"name": ""}, "bad_name"),
        ({"name": "x" * 201}, "bad_name"),
        ({"end_time_ns": 9}, "bad_span"),
        ({"start_time_ns": -1}, "bad_span"),
        ({"start_time_ns": 1.5}, "bad_span"),
        ({"start_time_ns": "10"}, "bad_span"),
        ({"end_time_ns": 2**63}, "bad_span"),
        ({"end_time_ns": None}, "bad_span"),
        ({"attributes": ["a"]}, "trace_span_failed"),
    ],
)
def test_bad_spans_are_dropped(changed: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture) -> None:
    good: dict[str, Any] = {"name": "x", "start_time_ns": 10, "end_time_ns": 20, "attributes": {}}
    for _ in range(2):
        trace_span(**{**good, **changed})
    trace_span(**good)
    assert len(spans()) == 1
    assert dropped() == {reason: 2}
    assert len([message for message in caplog.messages if "dropped" in message]) == 1


def test_interrupts_are_not_swallowed() -> None:
    @trace_op
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [span["attributes"] for span in spans()] == [{"error": "KeyboardInterrupt"}]
