"""Whose data is it: runs that are known, become known later, or never."""

from pathlib import Path
from typing import Any

from collector.inbox import Arrived

from .harness import LocalCollector
from .reports import OTHER_RUN, RUN, body, counter, gauge, histogram, report, state_span, states, targets

NO_RUN = {"project": "", "experiment_name": ""}
SECONDS = "rl_insight_state_seconds_total"
LANE = {"state_lane_id": "replica_0", "state_name": "vllm_generate"}


def seconds(spent: float) -> dict[str, Any]:
    return states(["replica_0", "vllm_generate", spent, 1, 0])


def sd(collector: LocalCollector) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = collector.client.get("/api/v1/prometheus/sd").json()
    return found


def test_the_run_of_one_process_is_its_jobs(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN))
    collector.accepted(report(2, states=seconds(3)))
    assert collector.value(SECONDS, **RUN, **LANE) == 3


def test_what_came_before_the_run_was_known_is_held_and_then_the_runs(collector: LocalCollector) -> None:
    collector.accepted(report(2, states=seconds(3), metrics=[counter("a_total", 5)], targets=[targets("10.0.0.1:80")]))
    collector.pass_time(50)
    assert collector.value(SECONDS, **NO_RUN, **LANE) is None
    assert sd(collector) == []
    assert collector.own("sources_held") == 1
    collector.accepted(report(1, run=RUN))
    assert collector.value(SECONDS, **RUN, **LANE) == 3
    assert collector.value("a_total", **RUN) == 5
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", **RUN}]
    assert collector.own("sources_held") == 0


def test_a_process_that_registers_targets_before_its_own_run_is_known(collector: LocalCollector) -> None:
    collector.accepted(report(1, job="", targets=[targets("10.0.0.1:80")]))
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm"}]
    collector.accepted(report(1, 2, job="", run=RUN))
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", **RUN}]


def test_a_job_whose_run_is_not_named_goes_on_without_after_a_minute(collector: LocalCollector) -> None:
    collector.accepted(report(2, states=seconds(3), targets=[targets("10.0.0.1:80")]))
    collector.pass_time(61)
    assert collector.value(SECONDS, **NO_RUN, **LANE) == 3
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm"}]
    collector.accepted(report(3, metrics=[gauge("late", 1)]))
    assert collector.value("late", **NO_RUN) == 1


def test_series_without_a_run_move_to_it_when_it_is_named_late(collector: LocalCollector) -> None:
    collector.accepted(report(2, metrics=[counter("a_total", 5), gauge("g", 1)], targets=[targets("10.0.0.1:80")]))
    collector.pass_time(61)
    assert collector.value("a_total", **NO_RUN) == 5
    collector.accepted(report(1, run=RUN))
    assert collector.value("a_total", **RUN) == 5
    assert collector.value("g", **RUN) == 1
    assert collector.value("a_total", **NO_RUN) is None
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", **RUN}]
    collector.accepted(report(2, 2, metrics=[counter("a_total", 8)]))
    assert collector.value("a_total", **RUN) == 8


def test_what_is_named_late_counts_once_while_another_source_has_no_run(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        collector.accepted(report(2, metrics=[counter("c_total", 5)]))
        collector.accepted(report(3, job="", metrics=[counter("c_total", 100)]))
        collector.pass_time(61)
        assert collector.value("c_total", **NO_RUN) == 105
        collector.accepted(report(1, run=RUN))
        assert collector.value("c_total", **NO_RUN) == 100
        assert collector.value("c_total", **RUN) == 5
    with LocalCollector(tmp_path) as collector:
        assert collector.value("c_total", **NO_RUN) == 100
        assert collector.value("c_total", **RUN) == 5
        collector.accepted(report(2, 2, metrics=[counter("c_total", 6)]))
        assert collector.value("c_total", **RUN) == 6


def test_what_a_source_that_was_gone_left_without_a_run_goes_with_it(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        for source in (2, 4, 5):
            collector.accepted(report(source, metrics=[counter("c_total", source)]))
        collector.accepted(report(3, job="", metrics=[counter("c_total", 100)]))
        for sequence in (2, 3):
            collector.pass_time(65)
            collector.accepted(report(3, sequence, job=""))
        assert collector.own("sources") == 1
        assert collector.value("c_total", **NO_RUN) == 111
        collector.accepted(report(2, 2, job="", metrics=[counter("c_total", 3)]))  # back, and still without a run
        assert collector.value("c_total", **NO_RUN) == 112
        collector.accepted(report(1, run=RUN))
        bodies = [body(report(source, 2, metrics=[counter("c_total", 10)])) for source in (4, 5)]
        arrived = [Arrived(one, "gzip") for one in (*bodies, body(report(2, 3)))]
        writer = collector.service.writer
        writer.inbox.call(lambda: writer._store(arrived)).result()  # back at one time, with the run of their job
        assert [one.answer.exception() for one in arrived] == [None] * 3
        assert collector.value("c_total", **NO_RUN) == 100
        assert collector.value("c_total", **RUN) == 23
    with LocalCollector(tmp_path) as collector:
        assert collector.value("c_total", **NO_RUN) == 100
        assert collector.value("c_total", **RUN) == 23


def test_what_was_counted_in_a_run_is_not_counted_in_it_again_by_way_of_none(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN))
    collector.accepted(report(2, metrics=[counter("c_total", 5)]))
    collector.accepted(report(2, 2, job="", metrics=[counter("c_total", 7)]))
    assert (collector.value("c_total", **RUN), collector.value("c_total", **NO_RUN)) == (5, 2)
    collector.accepted(report(2, 3, metrics=[counter("c_total", 8)]))
    assert (collector.value("c_total", **RUN), collector.value("c_total", **NO_RUN)) == (8, None)


def test_two_jobs_are_never_mixed(collector: LocalCollector) -> None:
    for source, job in ((1, "a"), (2, "b"), (3, "a"), (4, "b")):
        run = {1: RUN, 2: OTHER_RUN}.get(source)
        metrics = [counter("a_total", source), gauge("g", source)]
        address = f"10.0.0.{source}:80"
        collector.accepted(report(source, job=job, run=run, metrics=metrics, targets=[targets(address)]))
    assert collector.value("a_total", **RUN) == 1 + 3
    assert collector.value("a_total", **OTHER_RUN) == 2 + 4
    assert {(*group["targets"], group["labels"]["experiment_name"]) for group in sd(collector)} == {
        ("10.0.0.1:80", "10.0.0.3:80", "first"),
        ("10.0.0.2:80", "10.0.0.4:80", "second"),
    }


def test_a_source_without_a_job_has_no_run_from_the_start(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN))
    collector.accepted(report(2, job="", metrics=[gauge("g", 1)]))
    assert collector.value("g", **NO_RUN) == 1


def test_a_second_run_of_one_job_takes_nothing_from_the_first(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1)]))
    collector.accepted(report(2, metrics=[counter("a_total", 10)], states=seconds(100)))
    assert collector.value("a_total", **RUN) == 11
    collector.accepted(report(3, run=OTHER_RUN))
    assert collector.value("a_total", **RUN) == 11
    assert collector.value("a_total", **OTHER_RUN) == 0
    collector.accepted(report(2, 2, metrics=[counter("a_total", 14)], states=seconds(101)))
    assert collector.value("a_total", **RUN) == 11
    assert collector.value("a_total", **OTHER_RUN) == 4
    assert collector.value(SECONDS, **OTHER_RUN, **LANE) == 1


def test_labels_that_the_caller_gave_win(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[gauge("info", 1, sample="3", **OTHER_RUN)]))
    collector.accepted(report(2, run=RUN, metrics=[gauge("info", 2, 2**62, sample="3", **OTHER_RUN)]))
    collector.accepted(report(3, job="b", run=OTHER_RUN, metrics=[gauge("info", 3, 2**61, sample="3")]))
    assert collector.samples("info") == {("info", tuple(sorted({"sample": "3", **OTHER_RUN}.items()))): 2}


def test_a_job_that_is_known_only_later(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN))
    collector.accepted(report(2, job="", metrics=[counter("a_total", 5)]))
    assert collector.value("a_total", **NO_RUN) == 5
    collector.accepted(report(2, 2, metrics=[counter("a_total", 6)]))
    assert collector.value("a_total", **RUN) == 6
    assert collector.value("a_total", **NO_RUN) is None


def test_a_target_stands_as_it_was_registered_last(collector: LocalCollector) -> None:
    collector.accepted(report(1, job="a", run=RUN, targets=[targets("10.0.0.1:80", replica="0")]))
    collector.accepted(report(2, job="b", run=OTHER_RUN, targets=[targets("10.0.0.1:80", replica="1")]))
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", "replica": "1", **OTHER_RUN}]
    body = {"job_name": "vllm", "targets": ["10.0.0.1:80"], "labels": {"rack": "7"}}
    collector.client.post("/api/v1/prometheus/targets", json=body)
    assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", "replica": "1", "rack": "7", **OTHER_RUN}]


def test_identity_survives_a_restart(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        collector.accepted(report(1, run=RUN))
        collector.accepted(report(2, metrics=[counter("a_total", 5)], targets=[targets("10.0.0.1:80")]))
        collector.accepted(report(3, job="b", metrics=[counter("a_total", 7), histogram("h", [1, 2, 3], 9)]))
        collector.accepted(report(4, job="c", metrics=[counter("a_total", 9)]))
        collector.pass_time(61)
    with LocalCollector(tmp_path) as collector:
        assert collector.value("a_total", **RUN) == 5
        assert collector.value("a_total", **NO_RUN) == 16
        assert collector.value("h_bucket", le="2.0", **NO_RUN) == 3
        assert [group["labels"] for group in sd(collector)] == [{"job": "vllm", **RUN}]
        collector.accepted(report(5, metrics=[counter("a_total", 1)]))
        assert collector.value("a_total", **RUN) == 6
        collector.accepted(report(6, job="b", run=OTHER_RUN))
        assert collector.value("a_total", **OTHER_RUN) == 7


def test_the_journal_learns_the_run_too(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:9") as collector:
        collector.accepted(report(2, spans=[state_span(1)]))
        collector.accepted(report(3, job="b", spans=[state_span(1)]))
        collector.accepted(report(1, run=RUN, spans=[state_span(1)]))
        rows = collector.service.writer.inbox.call(
            lambda: collector.service.writer.connection.execute(
                "SELECT job, experiment FROM spans ORDER BY id"
            ).fetchall()
        ).result()
        assert rows == [("job-1", "first"), ("b", None), ("job-1", "first")]
