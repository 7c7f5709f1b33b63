"""Lanes: the union of intervals, who holds a lane, and what is counted."""

import asyncio
import threading
from enum import Enum
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rl_insight
from rl_insight import trace_state
from rl_insight.client import client
from tests.client.reading import Reading
from tests.client.time_machine import NOON, SECOND, TimeMachine


class Phase(Enum):
    GENERATE = "generate"


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> TimeMachine:
    machine = TimeMachine()
    machine.install(monkeypatch)
    client.__init__()  # type: ignore[misc]  # a source whose clock is this one
    return machine


def intervals(spans: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """State, start and end, in seconds since noon."""
    return [(span["state"], (span["start_ns"] - NOON) // SECOND, (span["end_ns"] - NOON) // SECOND) for span in spans]


def union(moments: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping and touching-by-holding intervals made one; a simple model, second by second."""
    held = sorted({(start, end) for start, end in moments if start < end})
    merged: list[tuple[int, int]] = []
    for start, end in held:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    requests=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), min_size=1, max_size=60),
    shared=st.booleans(),
)
def test_coroutines_in_one_state_give_the_union_of_their_intervals(
    requests: list[tuple[int, int]], shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = TimeMachine()
    with monkeypatch.context() as patched:
        machine.install(patched)
        client.__init__()  # type: ignore[misc]
        _replay([(start, start + length) for start, length in requests], machine, shared)
        report = Reading().report()
    expected = union([(start, start + length) for start, length in requests])
    assert intervals(report["spans"]) == [("generate", start, end) for start, end in expected]
    [[lane, state, seconds, count, ignored]] = report["states"]["totals"]
    assert (lane, state, ignored) == ("replica_0", "generate", 0)
    assert seconds == sum(end - start for start, end in expected)
    assert count == len(expected)


def _replay(moments: list[tuple[int, int]], machine: TimeMachine, shared: bool) -> None:
    """Coroutines that enter and leave in the order of the clock; who leaves goes before who enters."""
    one = trace_state("generate", state_lane_id="replica_0")

    async def request(start: int, end: int, turns: dict[tuple[int, int], list[asyncio.Event]]) -> None:
        await _turn(turns, (start, 1))
        with one if shared else trace_state("generate", state_lane_id="replica_0"):
            await _turn(turns, (end, 0))

    async def _turn(turns: dict[tuple[int, int], list[asyncio.Event]], when: tuple[int, int]) -> None:
        event = asyncio.Event()
        turns.setdefault(when, []).append(event)
        await event.wait()

    async def play() -> None:
        turns: dict[tuple[int, int], list[asyncio.Event]] = {}
        tasks = [asyncio.create_task(request(start, end, turns)) for start, end in moments]
        await asyncio.sleep(0)
        begin = machine.monotonic
        while turns:
            when = min(turns)
            machine.sleep(when[0] - (machine.monotonic - begin) / SECOND)
            for event in turns.pop(when):
                event.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

    asyncio.run(play())


def test_500_coroutines_without_a_gap_are_one_interval(time: TimeMachine) -> None:
    _replay([(start, start + 2) for start in range(500)], time, shared=False)
    report = Reading().report()
    assert intervals(report["spans"])[0][1] == 0
    assert intervals(report["spans"])[-1][2] == 501
    assert all(earlier["end_ns"] == later["start_ns"] for earlier, later in pairwise(report["spans"]))
    assert report["states"]["totals"] == [["replica_0", "generate", 501.0, 1, 0]]


def test_another_state_on_a_held_lane_is_counted_and_not_shown(time: TimeMachine) -> None:
    with trace_state("update", state_lane_id="rank_0"):
        time.sleep(1)
        for _ in range(3):
            with trace_state("log_prob", state_lane_id="rank_0"):
                time.sleep(1)
        with trace_state("log_prob", state_lane_id="rank_1"):
            time.sleep(1)
    report = Reading().report()
    assert sorted(report["states"]["totals"]) == [["rank_0", "update", 5.0, 1, 3], ["rank_1", "log_prob", 1.0, 1, 0]]
    assert intervals(report["spans"]) == [("log_prob", 4, 5), ("update", 0, 5)]


def test_a_state_that_was_ignored_leaves_without_effect(time: TimeMachine) -> None:
    holder, other = trace_state("a", state_lane_id="lane"), trace_state("b", state_lane_id="lane")
    holder.__enter__()
    other.__enter__()
    holder.__exit__(None, None, None)
    time.sleep(1)
    with trace_state("c", state_lane_id="lane"):
        time.sleep(1)
        other.__exit__(None, None, None)
        time.sleep(1)
    assert intervals(Reading().report()["spans"]) == [("a", 0, 0), ("c", 1, 3)]


@pytest.mark.parametrize("state", [Phase.GENERATE, 7, "lone \ud800 surrogate"])
def test_who_enters_the_same_state_joins_it_whatever_it_is_written_as(state: Any, time: TimeMachine) -> None:
    with trace_state(state, state_lane_id="replica_0"), trace_state(state, state_lane_id="replica_0"):
        time.sleep(2)
    assert [total[2:] for total in Reading().report()["states"]["totals"]] == [[2.0, 1, 0]]


def test_exceptions_close_the_interval_and_go_on(time: TimeMachine) -> None:
    def fail() -> None:
        with trace_state("update", state_lane_id="rank_0"):
            time.sleep(2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    report = Reading().report()
    assert intervals(report["spans"]) == [("update", 0, 2)]
    assert report["states"]["open"] == []


def test_cancelled_coroutines_leave_the_lane(time: TimeMachine) -> None:
    async def generate() -> None:
        with trace_state("generate", state_lane_id="replica_0"):
            await asyncio.Event().wait()

    async def cancel() -> None:
        tasks = [asyncio.create_task(generate()) for _ in range(20)]
        await asyncio.sleep(0)
        time.sleep(3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(cancel())
    assert intervals(Reading().report()["spans"]) == [("generate", 0, 3)]


def test_threads_in_one_state_are_one_interval_after_another() -> None:
    def work() -> None:
        for _ in range(200):
            with trace_state("generate", state_lane_id="replica_0"):
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = Reading().report()
    spans = report["spans"]
    assert all(earlier["end_ns"] <= later["start_ns"] for earlier, later in pairwise(spans))
    [[_, _, seconds, count, ignored]] = report["states"]["totals"]
    assert len(spans) == count <= 1600
    assert seconds * 1e9 == pytest.approx(sum(span["end_ns"] - span["start_ns"] for span in spans))
    assert (ignored, report["states"]["open"]) == (0, [])


def test_one_object_may_be_entered_again_and_again(time: TimeMachine) -> None:
    state = trace_state("update", state_lane_id="rank_0")
    for _ in range(2):
        with state, state:
            time.sleep(1)
        time.sleep(1)
    assert intervals(Reading().report()["spans"]) == [("update", 0, 1), ("update", 2, 3)]


def test_lane_ids_are_strings_in_the_end(time: TimeMachine) -> None:
    for lane in ("7", 7, None, None):
        with trace_state("update", state_lane_id=lane):
            time.sleep(1)
    report = Reading().report()
    source = report["source"]
    own = f"{source['host']}-{source['pid']}"
    assert sorted(report["states"]["totals"]) == sorted([["7", "update", 2.0, 2, 0], [own, "update", 2.0, 2, 0]])


def test_labels_become_attributes(time: TimeMachine) -> None:
    with trace_state("update", state_lane_id="rank_0", step=3, part="x", ok=True, self="me", shape=[1, 2], none=None):
        pass
    [span] = Reading().report()["spans"]
    assert span["attributes"] == {"step": 3, "part": "x", "ok": True, "self": "me", "shape": "[1, 2]"}


@pytest.mark.parametrize("bad", ["", "  ", "x" * 10_000])
def test_states_and_lanes_without_a_name_run_all_the_same(bad: str, caplog: pytest.LogCaptureFixture) -> None:
    ran = 0
    for _ in range(2):
        with trace_state(bad, state_lane_id="lane"):
            ran += 1
        with trace_state("state", state_lane_id=bad):
            ran += 1
    assert ran == 4
    report = Reading().report()
    assert report["states"]["totals"] == []
    assert report["dropped"] == {"bad_name": 4}
    assert len(caplog.messages) == 2  # of the name, and that there was no init yet


def test_lanes_are_bounded(time: TimeMachine) -> None:
    for number in range(1_100):
        with trace_state("update", state_lane_id=f"lane_{number}"):
            pass
    report = Reading().report()
    assert len(report["states"]["totals"]) == 1_000
    assert report["dropped"] == {"lane_limit": 100}


def test_pieces_grow_and_abut(time: TimeMachine) -> None:
    reading = Reading()
    spans: list[dict[str, Any]] = []
    with trace_state("generate", state_lane_id="replica_0", step=1):
        for _ in range(150):
            time.sleep(2)
            report = reading.report()
            spans += report["spans"]
            [[lane, state, interval_id, piece_start_ns]] = report["states"]["open"]
            assert (lane, state) == ("replica_0", "generate")
            assert piece_start_ns == (spans[-1]["end_ns"] if spans else NOON)
            assert report["sent_ns"] - piece_start_ns < 62 * SECOND
            assert report["states"]["totals"] == [["replica_0", "generate", (time.wall - NOON) / SECOND, 1, 0]]
        time.sleep(0.5)
    spans += reading.report()["spans"]
    assert [(span["end_ns"] - span["start_ns"]) / SECOND for span in spans] == [10, 20, 40, 60, 60, 60, 50.5]
    assert all(earlier["end_ns"] == later["start_ns"] for earlier, later in pairwise(spans))
    assert [span["open"] for span in spans] == [True] * 6 + [False]
    assert {span["interval_id"] for span in spans} == {interval_id}
    assert [span["number"] for span in spans] == list(range(1, 8))


def test_intervals_have_ids_of_their_own(time: TimeMachine) -> None:
    for lane in ("a", "b", "a", "b"):
        with trace_state("update", state_lane_id=lane):
            pass
    assert len({span["interval_id"] for span in Reading().report()["spans"]}) == 4


@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_a_step_of_the_clock_does_not_tear_an_open_interval(time: TimeMachine, seconds: float) -> None:
    reading = Reading()
    spans: list[dict[str, Any]] = []
    with trace_state("generate", state_lane_id="replica_0"):
        for step in range(20):
            time.sleep(2)
            if step == 7:
                time.step(seconds)
            spans += reading.report()["spans"]
    with trace_state("generate", state_lane_id="replica_0"):
        time.sleep(1)
    report = reading.report()
    spans += report["spans"]
    assert [(span["end_ns"] - span["start_ns"]) / SECOND for span in spans] == [10, 20, 10, 1]
    assert all(earlier["end_ns"] == later["start_ns"] for earlier, later in pairwise(spans[:3]))
    assert spans[0]["start_ns"] == NOON
    assert spans[3]["end_ns"] == time.wall == report["sent_ns"]
    assert report["states"]["totals"] == [["replica_0", "generate", 41.0, 2, 0]]


def test_the_last_report_ends_what_is_open(time: TimeMachine) -> None:
    state = trace_state("generate", state_lane_id="replica_0")
    state.__enter__()
    time.sleep(4)
    report = Reading().report(final=True)
    assert intervals(report["spans"]) == [("generate", 0, 4)]
    assert report["states"] == {"totals": [["replica_0", "generate", 4.0, 1, 0]], "open": []}
    state.__exit__(None, None, None)


def test_leaving_after_finish_does_no_harm() -> None:
    with trace_state("generate", state_lane_id="replica_0"):
        client.__init__()  # type: ignore[misc]
    rl_insight.metric_gauge("after", 1.0)
    report = Reading().report()
    assert report["states"]["totals"] == []
    assert report["spans"] == []
