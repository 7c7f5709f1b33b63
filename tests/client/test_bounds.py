"""Reports stay below the server's limit, and what waits stays within the client's."""

import gzip
import json
import random

import pytest

import rl_insight
from tests.client import stub as answers
from tests.client.reading import Reading, series
from tests.client.stub import Stub


def test_large_reports_are_parted_below_the_servers_limit() -> None:
    reading = Reading()
    for number in range(6_000):
        rl_insight.metric_gauge("scalar", number, "é" * 100, index=number, text="ü" * 300)
    noise = "".join(random.Random(1).choices("abcdefghij🙂\x00", k=6_000))
    for number in range(400):
        rl_insight.trace_span(name="turn", start_time_ns=number, end_time_ns=number, attributes={"content": noise})
    reports = reading.reports()
    sizes = [len(json.dumps(report, ensure_ascii=False).encode()) for report in reports]
    assert len(reports) > 4
    assert max(sizes) < 4_000_000
    assert [report["full"] for report in reports] == [True] + [False] * (len(reports) - 1)
    assert len(series(reports)) == 6_000
    assert [span["number"] for report in reports for span in report["spans"]] == list(range(1, 401))


def test_after_413_the_parts_are_smaller(stub: Stub) -> None:
    for number in range(6_000):
        rl_insight.metric_gauge("scalar", number, index=number, text="x" * 100)
    stub.script.append(answers.status(413, {"status": "error", "reason": "too large"}))
    rl_insight.init(config={"server": {"url": stub.url}})
    rl_insight.finish()
    sizes = [len(gzip.decompress(body)) for body in stub.bodies]
    assert 800_000 < sizes[0] < 1_200_000
    assert max(sizes[1:]) < 600_000
    assert len(stub.series()) == 6_000


def test_spans_that_wait_are_bounded_and_the_oldest_go(server: Stub, caplog: pytest.LogCaptureFixture) -> None:
    server.answer = answers.status(500)
    rl_insight.init()
    server.wait(lambda stub: stub.bodies)
    for _ in range(25_000):
        with rl_insight.trace_state("update", state_lane_id="rank_0"):
            pass
    server.answer = answers.accept
    rl_insight.finish()
    assert len(server.spans()) == 20_000
    assert server.totals()["rank_0", "update"][1] == 25_000
    assert server.dropped() == {"spans_full": 5_000}
    assert [span["number"] for span in server.spans()] == list(range(1, 20_001))
    assert "oldest spans" in caplog.text


def test_spans_that_wait_are_bounded_in_memory() -> None:
    for number in range(10_000):
        rl_insight.trace_span(
            name="turn", start_time_ns=number, end_time_ns=number, attributes={"content": f"{number}" + "x" * 8_000}
        )
    spans = [span for report in Reading().reports() for span in report["spans"]]
    assert 3_500 < len(spans) < 4_200
    assert spans[-1]["start_ns"] == 9_999
