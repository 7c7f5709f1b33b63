"""The collector as a process: start, stop, logs, IPv6."""

import json
import signal
from pathlib import Path

from .harness import CollectorProcess
from .reports import RUN, counter, report


def test_sigint_and_sigterm_stop_it_with_0(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path) as collector:
        assert collector.send(report(1, run=RUN, metrics=[counter("a_total", 3)]))[0] == 200
        assert collector.process is not None
        collector.process.send_signal(signal.SIGINT)
        assert collector.process.wait(10) == 0
        collector.start()
        assert list(collector.samples("a_total").values()) == [3]
        assert collector.stop() == 0


def test_log_lines_are_json_where_asked(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path, log_format="json", token="s3cret") as collector:
        collector.stop()
        lines = [json.loads(line) for line in collector.log.read_text().splitlines()]
    assert lines[0]["msg"] == "the collector listens"
    assert lines[0]["port"] == collector.port
    assert {"time", "level", "logger", "msg"} <= set(lines[-1])
    assert "s3cret" not in collector.log.read_text()


def test_log_lines_are_logfmt_and_an_open_bind_is_warned_of(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path, host="0.0.0.0") as collector:
        collector.stop()
        text = collector.log.read_text()
    assert 'level=warning logger=collector msg="anyone who reaches this address' in text


def test_it_listens_on_ipv6_and_ipv4_at_once(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path, host="::") as collector:
        assert json.loads(collector.get("/healthz")) == {"status": "ok"}
