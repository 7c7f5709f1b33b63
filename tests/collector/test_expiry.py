"""How sources and runs end, on a clock that the test moves."""

from pathlib import Path

import pytest

from .harness import LocalCollector
from .reports import OTHER_RUN, RUN, START_NS, counter, gauge, histogram, report, state_span, states, targets

NO_RUN = {"project": "", "experiment_name": ""}


def keep_alive(collector: LocalCollector, source: int, seconds: float, sequence: int = 1000) -> int:
    """Time passes while a source reports."""
    while seconds > 0:
        collector.pass_time(min(seconds, 30))
        seconds -= 30
        sequence += 1
        collector.accepted(report(source, sequence, run=RUN))
    return sequence


def test_a_finished_source_stays_a_minute(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, final=True, metrics=[gauge("g", 1), counter("a_total", 5)]))
    collector.pass_time(56)
    assert collector.value("g", **RUN) == 1
    collector.pass_time(8)
    assert collector.samples("g") == collector.samples("a_total") == {}
    assert collector.client.get("/api/v1/runs").json()["runs"] == []


def test_a_silent_source_stays_two_minutes(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, metrics=[gauge("g", 1)]))
    collector.pass_time(116)
    assert collector.value("g", **RUN) == 1
    collector.pass_time(8)
    assert collector.samples("g") == {}


def test_what_a_source_counted_stays_with_its_run_until_the_last_source_goes(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1.5), histogram("h", [1, 0, 2], 7)]))
    gone = [counter("a_total", 5), gauge("g", 1), histogram("h", [0, 4, 1], 3), counter("b_total", 2, rank="7")]
    collector.accepted(report(2, run=RUN, metrics=gone, states=states(["rank_2", "actor_update", 9.5, 3, 1])))
    before = collector.samples()
    keep_alive(collector, 1, 130)
    after = collector.samples()
    assert collector.own("sources") == 1
    lost = {name for name, _ in before} - {name for name, _ in after}
    assert lost == {"g"}
    for key, value in before.items():
        if not key[0].startswith("rl_insight_collector_") and key[0] != "g":
            assert after[key] == value
    collector.pass_time(130)
    assert not [key for key in collector.samples() if not key[0].startswith("rl_insight_collector_")]


def test_a_gauge_shows_the_latest_that_is_still_there(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[gauge("g", 1, START_NS)]))
    collector.accepted(report(2, run=RUN, metrics=[gauge("g", 2, START_NS + 1)]))
    assert collector.value("g", **RUN) == 2
    collector.accepted(report(1, 2, run=RUN, metrics=[gauge("g", 3, START_NS - 1)]))
    assert collector.value("g", **RUN) == 2
    keep_alive(collector, 1, 130)
    assert collector.value("g", **RUN) == 3


def test_a_source_that_comes_back_is_not_counted_twice(collector: LocalCollector) -> None:
    collector.accepted(report(2, 1, run=RUN, metrics=[counter("a_total", 5), gauge("g", 1)]))
    last = keep_alive(collector, 1, 130)
    assert collector.value("a_total", **RUN) == 5
    answer = collector.accepted(report(2, 2, run=RUN, metrics=[counter("a_total", 7)]))
    assert answer["full"] is True
    assert collector.value("a_total", **RUN) == 7
    again = [counter("a_total", 8), counter("b_total", 1), gauge("g", 2)]
    collector.accepted(report(2, 3, run=RUN, full=True, metrics=again))
    assert collector.value("a_total", **RUN) == 8
    assert collector.value("g", **RUN) == 2
    keep_alive(collector, 1, 130, last)
    assert collector.value("a_total", **RUN) == 8
    assert collector.value("b_total", **RUN) == 1
    assert collector.accepted(report(2, 3, run=RUN))["full"] is True
    assert collector.own("sources") == 1


def test_two_processes_under_one_source_id_are_said_once(
    collector: LocalCollector, caplog: pytest.LogCaptureFixture
) -> None:
    first = report(1, run=RUN)
    for content in (first, first):
        collector.accepted(content)
    assert "under one source id" not in caplog.text
    for content in (report(1, run=RUN, sent_ns=7), {**first, "source": {**first["source"], "pid": 7}}):
        collector.accepted(content)
    assert caplog.text.count("under one source id") == 1


def test_a_source_that_comes_back_after_its_run_has_gone_starts_anew(collector: LocalCollector) -> None:
    collector.accepted(report(2, 1, run=RUN, metrics=[counter("a_total", 5)]))
    collector.pass_time(130)
    assert collector.samples("a_total") == {}
    collector.accepted(report(2, 2, run=RUN, full=True, metrics=[counter("a_total", 6)]))
    assert collector.value("a_total", **RUN) == 6


def test_a_source_that_comes_back_after_its_job_was_named(collector: LocalCollector) -> None:
    collector.accepted(report(2, job="b", metrics=[counter("a_total", 5)]))
    collector.accepted(report(4, job="b"))
    keep_alive(collector, 1, 100)
    collector.accepted(report(4, 2, job="b"))
    keep_alive(collector, 1, 60, 2000)
    assert collector.value("a_total", **NO_RUN) == 5
    collector.accepted(report(3, job="b", run=OTHER_RUN))
    collector.accepted(report(2, 2, job="b", full=True, metrics=[counter("a_total", 6)]))
    assert collector.value("a_total", **OTHER_RUN) == 6


def test_a_restart_keeps_what_is_folded(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        collector.accepted(report(2, run=RUN, metrics=[counter("a_total", 5), counter("c_total", 0.1)]))
        collector.accepted(report(3, run=RUN, metrics=[counter("c_total", 0.2)]))
        keep_alive(collector, 1, 130)
        before = collector.value("c_total", **RUN)
    with LocalCollector(tmp_path) as collector:
        assert collector.value("a_total", **RUN) == 5
        assert collector.value("c_total", **RUN) == before
        collector.accepted(report(2, 2, run=RUN, full=True, metrics=[counter("a_total", 7)]))
        assert collector.value("a_total", **RUN) == 7
    with LocalCollector(tmp_path) as collector:
        assert collector.value("a_total", **RUN) == 7
        collector.pass_time(130)
        assert collector.samples("a_total") == {}
    with LocalCollector(tmp_path) as collector:
        assert collector.samples("a_total") == {}


def test_a_restarted_collector_asks_for_the_gauges(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        collector.accepted(report(1, run=RUN, metrics=[gauge("g", 1)]))
    with LocalCollector(tmp_path) as collector:
        assert collector.samples("g") == {}
        assert collector.accepted(report(1, 2, run=RUN))["full"] is True
        assert collector.accepted(report(1, 3, run=RUN, full=True, metrics=[gauge("g", 1)]))["full"] is False
        assert collector.value("g", **RUN) == 1


def test_targets_go_with_their_source_and_stay_without_one(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, targets=[targets("10.0.0.1:80", "10.0.0.2:80")]))
    collector.client.post(
        "/api/v1/prometheus/targets", json={"job_name": "vllm", "targets": ["10.0.0.2:80", "10.0.0.3:80"]}
    )
    assert collector.own("targets") == 3
    collector.pass_time(130)
    [group] = collector.client.get("/api/v1/prometheus/sd").json()
    assert group == {"targets": ["10.0.0.2:80", "10.0.0.3:80"], "labels": {"job": "vllm"}}


def test_targets_that_a_source_no_longer_has_go(collector: LocalCollector) -> None:
    collector.accepted(report(1, 1, run=RUN, targets=[targets("10.0.0.1:80", "10.0.0.2:80")]))
    collector.accepted(report(1, 2, run=RUN))
    assert collector.own("targets") == 2
    collector.accepted(report(1, 3, run=RUN, targets=[targets("10.0.0.2:80")]))
    assert collector.own("targets") == 1
    collector.accepted(report(1, 4, run=RUN, full=True))
    assert collector.own("targets") == 0


def test_an_open_state_of_a_source_that_died_ends_with_its_last_report(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:9") as collector:
        open_ = (
            ["replica_0", "vllm_generate", "i9", START_NS],
            ["replica_1", "vllm_generate", "i10", START_NS + 2**50],
        )
        content = report(run=RUN, spans=[state_span(1)], states=states(open_=open_))
        collector.accepted(content)
        assert collector.own("journal_spans") == 1
        collector.pass_time(130)
        assert collector.own("journal_spans") == 2
        assert collector.own("spans_total", outcome="ended") == 1
        rows = collector.service.writer.inbox.call(
            lambda: collector.service.writer.connection.execute(
                "SELECT experiment, data FROM spans ORDER BY id"
            ).fetchall()
        ).result()
        assert rows[1][0] == "first"
        assert f'"start_ns":{START_NS},"end_ns":{content["sent_ns"]}'.encode() in rows[1][1]


def test_silence_is_not_counted_while_the_collector_itself_stood_still(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, metrics=[gauge("g", 1)]))
    collector.now += 3600
    collector.service.writer.inbox.call(collector.service.writer.tick).result()
    assert collector.value("g", **RUN) == 1


def test_a_name_is_free_again_when_nobody_reports_it(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1), counter("b_total", 1)]))
    collector.pass_time(300)
    collector.accepted(report(2, run=RUN, metrics=[gauge("a_total", 3), gauge("b_total", 4)]))
    assert collector.value("a_total", **RUN) == 3
    assert collector.own("families_refused_total") == 0
