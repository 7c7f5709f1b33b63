"""What was acknowledged survives: kill -9 under load, a full disk, a damaged database, two processes."""

import json
import multiprocessing
import os
import resource
import shutil
import socket
import sqlite3
import time
from pathlib import Path

import pytest

from collector.errors import ConfigError
from collector.inbox import Arrived
from collector.ingest import Answer, Ingest
from collector.plan import Plan
from collector.register import OfflineRegister
from collector.report import Report
from collector.service import Service
from collector.settings import Settings
from collector.targets import read_registration
from tests.support.otlp import OtlpReceiver

from .clients import Load, register_targets
from .harness import CollectorProcess, LocalCollector, wait_until
from .reports import RUN, body, counter, gauge, report, state_span, targets

TARGETS = "/api/v1/prometheus/targets"


def test_nothing_acknowledged_is_lost_when_the_collector_is_killed_under_load(tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        settings = {"otlp_endpoint": receiver.endpoint, "spans_per_second": 1e6}
        with CollectorProcess(tmp_path, **settings) as collector, Load(collector.url, processes=3) as load:
            for _ in range(4):
                time.sleep(0.7)
                collector.kill()
                collector.start()
            called = load.finish()
            samples = collector.samples("work_total")
            shown = {dict(labels)["worker"]: value for (_, labels), value in samples.items()}
            assert shown == {str(worker): total for worker, (total, _) in called.items()}
            sent = sum(spans for _, spans in called.values())
            wait_until(lambda: len(receiver.unique()) == sent)
            assert min(total for total, _ in called.values()) > 100


def test_a_full_disk_is_said_and_nothing_is_half_done(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path, otlp_endpoint="http://127.0.0.1:9") as collector:
        assert collector.process is not None
        pid = collector.process.pid
        assert collector.send(report(1, 1, run=RUN, metrics=[counter("a_total", 1), gauge("g", 1)]))[0] == 200
        before = collector.samples("a_total")
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (32_768, hard))
        big = [state_span(number, attributes={"text": os.urandom(500).hex()}) for number in range(1, 500)]
        content = report(1, 2, run=RUN, metrics=[counter("a_total", 2), gauge("g", 2)], spans=big)
        status, answer = collector.send(content)
        assert status == 503
        assert "cannot be stored" in answer["reason"]
        assert collector.send(content)[0] == 503
        assert collector.samples("a_total") == before
        assert collector.samples("rl_insight_collector_database_ok")[("rl_insight_collector_database_ok", ())] == 0
        assert json.loads(collector.get("/healthz")) == {"status": "ok"}
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
        time.sleep(1.1)
        assert collector.send(content) == (200, {"status": "ok", "acknowledged": 2, "full": False})
        assert list(collector.samples("a_total").values()) == [2]
        assert list(collector.samples("g").values()) == [2]
        assert (
            collector.samples("rl_insight_collector_journal_spans")[("rl_insight_collector_journal_spans", ())] == 499
        )


def test_a_database_without_room_in_this_process(collector: LocalCollector) -> None:
    collector.accepted(report(1, 1, run=RUN, metrics=[counter("a_total", 1)]))
    inbox, connection = collector.service.writer.inbox, collector.service.writer.connection
    [pages] = inbox.call(lambda: connection.execute("PRAGMA page_count").fetchone()).result()
    inbox.call(lambda: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()).result()
    many = [counter(f"c{number}_total", number, text="x" * 1000) for number in range(100)]
    for _ in range(2):
        status, answer = collector.send(report(1, 2, run=RUN, metrics=many))
        assert (status, "full" in answer["reason"]) == (503, True)
    assert collector.samples("c1_total") == {}
    assert collector.client.post(TARGETS, json={"targets": ["a:1"]}).status_code == 503
    inbox.call(lambda: connection.execute("PRAGMA max_page_count = 100000").fetchone()).result()
    collector.now += 2
    assert collector.send(report(1, 2, run=RUN, metrics=many))[0] == 200
    assert len(collector.samples("c")) >= 100


def test_sources_do_not_end_while_the_database_refuses(collector: LocalCollector) -> None:
    collector.accepted(report(1, 1, run=RUN, metrics=[gauge("g", 1)]))
    inbox, connection = collector.service.writer.inbox, collector.service.writer.connection
    inbox.call(lambda: connection.execute("PRAGMA query_only = 1")).result()
    assert collector.send(report(1, 2, run=RUN))[0] == 503
    collector.pass_time(300)
    assert collector.value("g", **RUN) == 1
    inbox.call(lambda: connection.execute("PRAGMA query_only = 0")).result()
    collector.pass_time(60)
    assert collector.value("g", **RUN) == 1


@pytest.mark.parametrize("damage", ["text", "middle", "empty"])
def test_a_damaged_database_is_moved_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    with LocalCollector(tmp_path) as collector:
        many = [counter(f"c{number}_total", number, text="x" * 900) for number in range(100)]
        collector.accepted(report(1, run=RUN, metrics=many))
    file = tmp_path / "collector.db"
    content = file.read_bytes()
    middle = content[:4096] + os.urandom(len(content) - 8192) + content[-4096:]
    file.write_bytes({"text": b"not a database " * 1000, "middle": middle, "empty": b""}[damage])
    with LocalCollector(tmp_path) as collector:
        assert collector.accepted(report(1, 2, run=RUN))["full"] is True
        aside = list(tmp_path.glob("collector.db.damaged-*"))
        assert len(aside) == (0 if damage == "empty" else 1)


def test_a_database_that_is_damaged_at_work_is_replaced(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1)]))
    writer = collector.service.writer

    def fail() -> None:
        writer._failed(sqlite3.DatabaseError("database disk image is malformed"))

    file = collector.settings.database
    file.write_bytes(b"not a database " * 1000)
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink()
    writer.inbox.call(fail).result()
    collector.now += 2
    assert collector.accepted(report(1, 2, run=RUN))["full"] is True
    collector.accepted(report(1, 3, run=RUN, full=True, metrics=[counter("a_total", 4)]))
    assert collector.value("a_total", **RUN) == 4


@pytest.mark.parametrize("busy", [True, False])
def test_a_data_folder_that_is_deleted_at_work_is_begun_anew(tmp_path: Path, busy: bool) -> None:
    folder = tmp_path / "data"
    with LocalCollector(folder) as collector:
        collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1)]))
        shutil.rmtree(folder)
        if not busy:
            collector.pass_time(2)
            assert (folder / "collector.db").exists()
        assert collector.accepted(report(1, 2, run=RUN))["full"] is True
        assert collector.own("failures_total", what="database") == 1
        collector.accepted(report(1, 3, run=RUN, full=True, metrics=[counter("a_total", 4)]))
    with LocalCollector(folder) as collector:
        assert collector.value("a_total", **RUN) == 4


def test_a_data_folder_that_cannot_be_made_again_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with LocalCollector(folder) as collector:
        collector.accepted(report(1, run=RUN))
        shutil.rmtree(folder)
        folder.write_text("a file where the folder should be")
        for _ in range(2):
            assert collector.send(report(1, 2, run=RUN))[0] == 503
            collector.pass_time(2)
        assert collector.client.post(TARGETS, json={"targets": ["a:1"]}).status_code == 503
        assert collector.client.get(TARGETS).status_code == 503
        folder.unlink()
        collector.pass_time(2)
        assert collector.accepted(report(1, 2, run=RUN))["full"] is True


def test_a_connection_that_is_closed_is_opened_again_and_reports_are_kept(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1)]))
    writer = collector.service.writer
    writer.inbox.call(lambda: writer.connection.close()).result()
    content = report(1, 2, run=RUN, metrics=[counter("a_total", 2)])
    answer = collector.client.post("/api/v1/events", json=content)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    collector.now += 2
    assert collector.send(content)[0] == 200
    assert collector.value("a_total", **RUN) == 2


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with LocalCollector(tmp_path):
        pass
    connection = sqlite3.connect(tmp_path / "collector.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ConfigError, match="newer version"):
        Service(Settings(data_dir=tmp_path, otlp_endpoint=""))


def test_two_collectors_do_not_share_a_folder(collector: LocalCollector) -> None:
    with pytest.raises(ConfigError, match="Another collector"):
        Service(collector.settings)


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        Service(Settings(data_dir=tmp_path / "file" / "data", otlp_endpoint=""))


def test_registrations_that_race_are_all_kept(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with CollectorProcess(tmp_path) as collector:
        workers = [context.Process(target=register_targets, args=(collector.url, worker)) for worker in range(4)]
        for worker in workers:
            worker.start()
        with OfflineRegister(tmp_path / "collector.db", tmp_path / "targets.json") as register:
            for number in range(10):
                register.add(read_registration({"targets": [f"10.1.0.{number}:80"]}))
        for worker in workers:
            worker.join()
        assert [worker.exitcode for worker in workers] == [0] * 4
        assert json.loads(collector.get(TARGETS))["target_count"] == 50
        wait_until(lambda: _in_file(tmp_path / "targets.json") == 50)


def _in_file(file: Path) -> int:
    return sum(len(group["targets"]) for group in json.loads(file.read_text()))


def test_the_register_from_the_command_line_while_the_collector_is_stopped(tmp_path: Path) -> None:
    with OfflineRegister(tmp_path / "new" / "collector.db", tmp_path / "targets.json") as register:
        registration = read_registration({"job_name": "node-exporter", "targets": ["10.0.0.1:9100", "10.0.0.2:9100"]})
        assert register.add(registration) == 2
        assert register.remove("node-exporter", "10.0.0.1:9100")
        assert not register.remove("node-exporter", "10.0.0.1:9100")
        assert [one.target for one in register.targets()] == ["10.0.0.2:9100"]
    assert _in_file(tmp_path / "targets.json") == 1
    with LocalCollector(tmp_path / "new") as collector:
        assert collector.client.get(TARGETS).json()["target_count"] == 1


@pytest.mark.parametrize(
    "content", [b'[{"targets": ["10.0.', b"", b'[{"targets": ["10.9.9.9:1"], "labels": {}}]', None]
)
def test_a_register_file_half_written_or_edited_by_hand_is_put_right(
    collector: LocalCollector, content: bytes | None
) -> None:
    collector.accepted(report(run=RUN, targets=[targets("10.0.0.1:80")]))
    file = collector.settings.register
    good = file.read_bytes()
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    collector.pass_time(8)
    assert file.read_bytes() == good
    assert not [name for name in file.parent.iterdir() if name.name.startswith(".targets")]


def test_the_register_file_is_written_once_a_second_and_at_the_end(tmp_path: Path) -> None:
    with LocalCollector(tmp_path) as collector:
        file = collector.settings.register
        for number in range(1, 4):
            collector.client.post(TARGETS, json={"targets": [f"10.0.0.{number}:80"]})
        assert _in_file(file) == 1
        collector.pass_time(1)
        assert _in_file(file) == 3
        collector.client.post(TARGETS, json={"targets": ["10.0.0.4:80"]})
        assert _in_file(file) == 3
    assert _in_file(file) == 4


def test_a_register_file_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    with LocalCollector(tmp_path / "data", targets_file=blocked / "targets.json") as collector:
        collector.accepted(report(run=RUN, targets=[targets("10.0.0.1:80")]))
        assert collector.own("failures_total", what="register") >= 1
        blocked.unlink()
        collector.pass_time(8)
        assert _in_file(blocked / "targets.json") == 1


def test_a_report_that_cannot_be_stored_takes_no_other_with_it(
    collector: LocalCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for source in (1, 2, 3):
        collector.accepted(report(source, run=RUN))
    writer = collector.service.writer
    plan_report = Ingest.plan

    def broken(self: Ingest, content: Report, now: float) -> tuple[Plan, Answer]:
        plan, answer = plan_report(self, content, now)
        if content.source.id.endswith("2"):
            plan.sql("UPDATE sources SET pid = ?", (2**70,))
        return plan, answer

    monkeypatch.setattr(Ingest, "plan", broken)
    contents = [report(source, 2, run=RUN, metrics=[counter(f"c{source}_total", 1)]) for source in (1, 2, 3)]
    arrived = [Arrived(body(content), "gzip") for content in contents]
    writer.inbox.call(lambda: writer._store(arrived)).result()
    assert [one.answer.exception() is None for one in arrived] == [True, False, True]
    assert [collector.value(f"c{source}_total", **RUN) for source in (1, 2, 3)] == [1, None, 1]


def test_a_change_that_fails_half_way_is_read_back(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[counter("a_total", 1), gauge("g", 1)]))
    writer = collector.service.writer
    plan = Plan()
    plan.sql("UPDATE sources SET pid = 7", ())
    plan.then(lambda: writer.model.leave(writer.model.sources[f"{1:032x}"]))
    plan.then(lambda: 1 // 0)
    writer.inbox.call(lambda: writer.carry_out(plan)).result()
    assert collector.value("a_total", **RUN) == 1
    assert collector.accepted(report(1, 2, run=RUN))["full"] is True


def test_a_client_that_goes_away_while_its_report_is_stored_does_no_harm(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path) as collector:
        for sequence in range(1, 21):
            content = body(report(1, sequence, run=RUN, metrics=[counter("a_total", sequence)]))
            head = "POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
            head += f"Content-Length: {len(content)}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", collector.port)) as connection:
                connection.sendall(head.encode() + content)
        wait_until(lambda: list(collector.samples("a_total").values()) == [20])
        assert "exception" not in collector.log.read_text().lower()
