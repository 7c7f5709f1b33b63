"""What cannot be accepted: clear answers, counted, and nothing else lost."""

import gzip
import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from .harness import CollectorProcess, LocalCollector
from .reports import RUN, body, counter, gauge, histogram, report, state_span, states

GZIP = {"Content-Encoding": "gzip"}


@pytest.mark.parametrize(
    ("content", "headers", "reason"),
    [
        (body(report())[:-20], GZIP, "truncated"),
        (body(report())[:5], GZIP, "truncated"),
        (b"", GZIP, "truncated"),
        (b"not gzip at all", GZIP, "gzip"),
        (body(report()) + b"more", GZIP, "gzip"),
        (gzip.compress(bytes(64 << 20)), GZIP, "bomb"),
        (body(report()), {}, "json"),
        (body(report()), {"Content-Encoding": "br"}, "encoding"),
        (b"", {}, "json"),
        (b"[" * 100_000, {}, "field"),
        (b'{"x": ' + b"[" * 100_000, {}, "json"),
        (b"\xff\xfe", {}, "json"),
        (b"[]", {}, "field"),
        (b'{"version": 1, "job": "\\ud800"}', {}, "json"),
    ],
)
def test_a_body_that_is_no_report(
    collector: LocalCollector, content: bytes, headers: dict[str, str], reason: str
) -> None:
    status, answer = collector.send_raw(content, headers)
    assert (status, answer["status"]) == (400, "error")
    assert answer["reason"].endswith(".")
    assert collector.own("requests_refused_total", reason=reason) == 1
    collector.accepted(report())


FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"version": 2}, "upgrade"),
    ({"sequence": 0}, "$.sequence"),
    ({"sequence": "1"}, "$.sequence"),
    ({"sent_ns": -1}, "$.sent_ns"),
    ({"sent_ns": 2**64}, "$.sent_ns"),
    ({"source": {"id": "short", "host": "h", "pid": 1, "start_ns": 1}}, "$.source.id"),
    ({"source": {"id": "a" * 32 + "\n", "host": "h", "pid": 1, "start_ns": 1}}, "$.source.id"),
    ({"run": {"project": "p"}}, "experiment_name"),
    ({"job": "j" * 5000}, "$.job"),
    ({"metrics": [gauge("", 1)]}, "name"),
    ({"metrics": [gauge("a b", 1)]}, "name"),
    ({"metrics": [gauge("é", 1)]}, "name"),
    ({"metrics": [gauge("n" * 10_000, 1)]}, "name"),
    ({"metrics": [gauge("a", "1.5")]}, "series"),
    ({"metrics": [gauge("a", None)]}, "series"),
    ({"metrics": [gauge("a", 1, -1)]}, "series"),
    ({"metrics": [gauge("a", 1, job="x")]}, "reserved"),
    ({"metrics": [gauge("a", 1, instance="x")]}, "reserved"),
    ({"metrics": [gauge("a", 1, le="x")]}, "reserved"),
    ({"metrics": [gauge("a", 1, __name__="x")]}, "reserved"),
    ({"metrics": [gauge("a", 1, **{"a-b": "x"})]}, "label name"),
    ({"metrics": [gauge("a", 1, **{"": "x"})]}, "label name"),
    ({"metrics": [gauge("a", 1, b="x" * 10_000)]}, "longer"),
    ({"metrics": [gauge("a", 1, **{f"l{n}": "x" for n in range(40)})]}, "40 labels"),
    ({"metrics": [counter("a_total", -1)]}, "a_total"),
    ({"metrics": [counter("a", 1)]}, "_total"),
    ({"metrics": [counter("a_total", "NaN")]}, "a_total"),
    ({"metrics": [histogram("a", [1, 2], 3)]}, "counts"),
    ({"metrics": [histogram("a", [1, -2, 3], 3)]}, "series[0][1][1]"),
    ({"metrics": [histogram("a", [1, 2, 3], 3, buckets=(2.0, 1.0))]}, "ascending"),
    ({"metrics": [{**gauge("a", 1), "type": "summary"}]}, "type"),
    ({"states": states(["lane", "state", -1.0, 1, 0])}, "below 0"),
    ({"states": states(["lane", "state"])}, "states"),
    ({"spans": [state_span(0)]}, "number"),
    ({"spans": [state_span(2), state_span(1)]}, "after"),
    ({"spans": [state_span(1), state_span(1)]}, "after"),
    ({"spans": [state_span(1, kind="other")]}, "kind"),
    ({"spans": [state_span(1, interval_id=None)]}, "without"),
    ({"spans": [state_span(1, start_ns=2**65)]}, "start_ns"),
    ({"spans": [state_span(1, attributes={f"a{n}": 1 for n in range(200)})]}, "attributes"),
    ({"dropped": {"x": -1}}, "dropped"),
]


@pytest.mark.parametrize(("fields", "says"), FIELDS, ids=range(len(FIELDS)))
def test_a_field_that_is_not_as_it_must_be(collector: LocalCollector, fields: dict[str, Any], says: str) -> None:
    collector.accepted(report(run=RUN, metrics=[gauge("good", 1)]))
    status, answer = collector.send({**report(sequence=2, run=RUN), **fields})
    assert status == 400
    assert says in answer["reason"]
    assert collector.value("good", **RUN) == 1
    collector.accepted(report(sequence=3, run=RUN, metrics=[gauge("good", 2)]))
    assert collector.value("good", **RUN) == 2


def test_limits_are_said_and_counted(tmp_path: Path) -> None:
    limits = {"max_series_per_source": 3, "max_spans_per_report": 2, "max_sources": 2, "max_series": 5}
    with LocalCollector(tmp_path, **limits) as collector:
        three = [gauge(name, 1) for name in "abc"]
        collector.accepted(report(1, run=RUN, metrics=three))
        status, answer = collector.send(report(1, 2, run=RUN, metrics=[gauge("d", 1)]))
        assert (status, "4 series" in answer["reason"]) == (413, True)
        assert collector.send(report(2, metrics=[gauge(name, 1) for name in "abcd"]))[0] == 413
        assert collector.send(report(2, spans=[state_span(number) for number in (1, 2, 3)]))[0] == 413
        status, answer = collector.send(report(2, run=RUN, metrics=three))
        assert (status, "try later" in answer["reason"]) == (429, True)
        collector.accepted(report(2, run=RUN, metrics=three[:2]))
        assert collector.send(report(3))[0] == 429
        for reason, count in (("series_limit", 2), ("spans_limit", 1), ("series_total", 1), ("sources_limit", 1)):
            assert collector.own("requests_refused_total", reason=reason) == count
        assert len(collector.samples("a")) + len(collector.samples("b")) + len(collector.samples("c")) == 3


def test_a_million_label_sets_stop_at_the_limit(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, max_series_per_source=1000) as collector:
        series = [[{"request": str(number)}, 1.0, 1] for number in range(100_000)]
        family = {"name": "a", "type": "gauge", "help": "", "series": series}
        assert collector.send(report(run=RUN, metrics=[family]))[0] == 413
        for sequence in range(1, 20):
            part = {**family, "series": series[sequence * 100 : sequence * 100 + 100]}
            status, _ = collector.send(report(sequence=sequence, run=RUN, metrics=[part]))
            assert status == (200 if sequence <= 10 else 413)
        assert len(collector.samples("a")) == 1000


def test_a_name_that_has_another_type_is_passed_over_alone(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[gauge("a_total", 1), histogram("h", [1, 1, 1], 3)]))
    metrics = [
        counter("a_total", 5),
        histogram("h", [1, 1], 2, buckets=(1.0,), x="y"),
        gauge("h_count", 7),
        gauge("rl_insight_collector_sources", 99),
        gauge("rl_insight_state_seconds_total", 99),
        gauge("b", 2),
    ]
    collector.accepted(report(2, run=RUN, metrics=metrics))
    assert collector.value("a_total", **RUN) == 1
    assert collector.value("b", **RUN) == 2
    assert collector.value("h_count", **RUN) == 3
    assert collector.own("sources") == 2
    assert collector.own("families_refused_total") == 5


def test_too_many_waiting_bytes_are_refused_for_later(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, max_waiting_bytes=1 << 20, max_report_bytes=4 << 20) as collector:
        answer = collector.client.post("/api/v1/events", content=b" " * (2 << 20))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_a_body_of_100_mb_is_answered_413_and_not_held_in_memory(tmp_path: Path) -> None:
    import psutil

    with CollectorProcess(tmp_path) as collector:
        assert collector.process is not None
        watched = psutil.Process(collector.process.pid)
        before = watched.memory_info().rss
        connection = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=30)
        connection.request("POST", "/api/v1/events", iter([bytes(1 << 20)] * 100), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 413
        assert "larger" in json.load(answer)["reason"]
        connection.close()
        assert watched.memory_info().rss - before < 40 << 20
        assert collector.send(report())[0] == 200
