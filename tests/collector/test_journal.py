"""The journal and what is sent from it, to a receiver that decodes OTLP."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.plan import Plan
from tests.support.otlp import OtlpReceiver

from .harness import CollectorProcess, LocalCollector, free_port, wait_until
from .reports import RUN, SECOND, START_NS, report, state_span

FAST = {"spans_per_second": 1e6}


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


def spans(*numbers: int, **fields: Any) -> list[dict[str, Any]]:
    return [state_span(number, **fields) for number in numbers]


def test_a_state_interval_arrives_as_a_root_span_of_its_own(tmp_path: Path, receiver: OtlpReceiver) -> None:
    with LocalCollector(tmp_path, otlp_endpoint=receiver.endpoint) as collector:
        piece = state_span(
            1, open=True, interval_id=77, attributes={"step": 3, "big": 2**70, "list": [1, "a"], "no": None}
        )
        collector.accepted(report(run=RUN, spans=[piece, state_span(2)]))
        wait_until(lambda: len(receiver.spans) == 2)
        first, second = receiver.spans
        assert (first.name, first.parent_span_id) == ("vllm_generate", "")
        assert (first.start_ns, first.end_ns) == (START_NS + SECOND, START_NS + 2 * SECOND)
        assert first.trace_id != second.trace_id
        assert first.resource == {"service.name": "rl_insight_monitor"}
        assert first.attributes == {
            "state_name": "vllm_generate",
            "state_lane_id": "replica_0",
            "host": "node-1",
            "process_id": 1001,
            "interval_id": "77",
            "interval_open": True,
            "monitor.trace_segment": "state_interval",
            "step": 3,
            "big": str(2**70),
            "list": ["1", "a"],
            **RUN,
        }
        assert second.attributes["interval_open"] is False
        assert all(len(span.trace_id.lstrip("0")) == 32 and int(span.span_id, 16) for span in receiver.spans)
        wait_until(lambda: collector.own("journal_spans") == 0)
        assert collector.own("spans_total", outcome="sent") == 2


def test_other_kinds_of_spans(tmp_path: Path, receiver: OtlpReceiver) -> None:
    with LocalCollector(tmp_path, otlp_endpoint=receiver.endpoint) as collector:
        op = {**state_span(1), "kind": "duration", "name": "reward"}
        free = {**state_span(2), "kind": "span", "name": "agent_task", "end_ns": 0}
        free["attributes"] = {"project": "their own", "monitor.trace_source": "task", "reward": 0.5, "ok": True}
        collector.accepted(report(run=RUN, spans=[op, free]))
        wait_until(lambda: len(receiver.spans) == 2)
        first, second = receiver.spans
        assert first.attributes["monitor.trace_segment"] == "duration"
        assert "state_name" not in first.attributes
        assert second.attributes["project"] == "their own"
        assert "monitor.trace_segment" not in second.attributes
        assert second.start_ns == second.end_ns


def test_spans_are_taken_once(tmp_path: Path, receiver: OtlpReceiver) -> None:
    with LocalCollector(tmp_path, otlp_endpoint=receiver.endpoint, **FAST) as collector:
        collector.accepted(report(1, 1, run=RUN, spans=spans(1, 2)))
        collector.accepted(report(1, 1, run=RUN, spans=spans(1, 2)))
        collector.accepted(report(1, 2, run=RUN, spans=spans(2, 3, 7)))
        collector.accepted(report(1, 3, run=RUN, spans=spans(8)))
        wait_until(lambda: len(receiver.spans) == 5)
        assert [span.attributes["interval_id"] for span in receiver.spans] == ["i1", "i2", "i3", "i7", "i8"]
        assert collector.own("spans_total", outcome="repeated") == 1


def test_spans_that_wait_for_their_run_do_not_hold_up_others(tmp_path: Path, receiver: OtlpReceiver) -> None:
    with LocalCollector(tmp_path, otlp_endpoint=receiver.endpoint, **FAST) as collector:
        collector.accepted(report(1, job="unknown", spans=spans(1)))
        collector.accepted(report(2, job="known", run=RUN, spans=spans(1)))
        wait_until(lambda: len(receiver.spans) == 1)
        assert receiver.spans[0].attributes["host"] == "node-2"
        wait_until(lambda: collector.own("journal_spans") == 1)
        collector.pass_time(61)
        wait_until(lambda: len(receiver.spans) == 2)
        assert receiver.spans[1].attributes["experiment_name"] == ""


def test_an_endpoint_that_is_away_and_comes_back_gets_everything_in_order(tmp_path: Path) -> None:
    port = free_port()
    with LocalCollector(tmp_path, otlp_endpoint=f"http://127.0.0.1:{port}", span_batch=7, **FAST) as collector:
        for sequence in range(1, 11):
            numbers = range(sequence * 10, sequence * 10 + 10)
            collector.accepted(report(1, sequence, run=RUN, spans=spans(*numbers)))
        with OtlpReceiver(port) as receiver:
            receiver.status = 503
            wait_until(lambda: receiver.requests > 0)
            receiver.status = 200
            wait_until(lambda: len(receiver.spans) == 100)
            arrived = [int(span.attributes["interval_id"][1:]) for span in receiver.spans]
            assert arrived == sorted(arrived)
            wait_until(lambda: collector.own("journal_spans") == 0)


def test_a_span_that_is_refused_for_good_does_not_stop_the_others(tmp_path: Path, receiver: OtlpReceiver) -> None:
    receiver.refused_names = frozenset(("poison",))
    with LocalCollector(tmp_path, otlp_endpoint=receiver.endpoint, **FAST) as collector:
        collector.accepted(report(run=RUN, spans=[*spans(1, 2, 3), state_span(4, name="poison"), *spans(5, 6)]))
        wait_until(lambda: len(receiver.unique()) == 5)
        wait_until(lambda: collector.own("spans_dropped_total", reason="refused") == 1)


def test_the_journal_is_bounded_and_the_oldest_go(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:9", journal_bytes=1 << 20) as collector:
        for sequence in range(1, 31):
            numbers = range(sequence * 100, sequence * 100 + 100)
            collector.accepted(report(1, sequence, run=RUN, spans=spans(*numbers, attributes={"text": "x" * 500})))
        collector.pass_time(1)
        assert collector.own("journal_bytes") <= 1 << 20
        dropped = collector.own("spans_dropped_total", reason="journal_full")
        assert dropped > 500
        assert collector.own("journal_spans") == 3000 - dropped
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:9", journal_bytes=1 << 20) as collector:
        assert collector.own("journal_spans") == 3000 - dropped


def test_without_an_endpoint_no_spans_are_kept(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, spans=spans(1, 2)))
    assert collector.own("journal_spans") == 0
    assert collector.own("spans_dropped_total", reason="no_endpoint") == 2


def test_sending_is_paced(tmp_path: Path, receiver: OtlpReceiver) -> None:
    settings = {"otlp_endpoint": receiver.endpoint, "spans_per_second": 100, "span_batch": 50}
    with LocalCollector(tmp_path, **settings) as collector:
        begun = time.monotonic()
        collector.accepted(report(run=RUN, spans=spans(*range(1, 401))))
        wait_until(lambda: len(receiver.spans) == 400)
        assert 1.4 < time.monotonic() - begun < 10


def test_what_was_accepted_before_a_restart_is_sent_after_it(tmp_path: Path) -> None:
    port = free_port()
    with CollectorProcess(tmp_path, otlp_endpoint=f"http://127.0.0.1:{port}", stop_seconds=0, **FAST) as collector:
        assert collector.send(report(1, 1, run=RUN, spans=spans(1, 2)))[0] == 200
        assert collector.stop() == 0
        collector.start()
        assert collector.send(report(1, 2, run=RUN, spans=spans(3)))[0] == 200
        collector.kill()
        with OtlpReceiver(port) as receiver:
            collector.start()
            wait_until(lambda: len(receiver.unique()) == 3)


def test_a_stop_sends_what_waits(tmp_path: Path, receiver: OtlpReceiver) -> None:
    settings = {"otlp_endpoint": receiver.endpoint, "spans_per_second": 1e6, "stop_seconds": 5}
    with CollectorProcess(tmp_path, **settings) as collector:
        collector.send(report(run=RUN, spans=spans(*range(1, 5001))))
        assert collector.stop() == 0
        assert len(receiver.unique()) == 5000


def test_the_disk_gets_its_room_back_after_an_outage(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:9") as collector:
        for sequence in range(1, 21):
            numbers = range(sequence * 500, sequence * 500 + 500)
            text = os.urandom(1000).hex()
            collector.accepted(report(1, sequence, run=RUN, spans=spans(*numbers, attributes={"text": text})))
        writer = collector.service.writer

        def empty() -> None:
            plan = Plan()
            writer.journal.plan_remove(plan, writer.connection, range(1, 21))
            writer.carry_out(plan)

        writer.inbox.call(empty).result()
        assert collector.own("journal_spans") == collector.own("journal_bytes") == 0
        collector.pass_time(40)
        writer.inbox.call(lambda: writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()).result()
        assert collector.settings.database.stat().st_size < 18 << 20
