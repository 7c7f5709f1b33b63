"""What docs/reports.md says of a report's fields, as a check."""

import math
import re
from typing import Any

FIELDS = {
    "version", "source", "sequence", "sent_ns", "job", "run", "full", "final", "metrics", "states", "spans", "targets",
    "dropped",
}  # fmt: skip
NUMBERS = ("NaN", "+Inf", "-Inf")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def check(report: dict[str, Any]) -> None:
    """Raises AssertionError where a report is not as the contract says."""
    assert set(report) == FIELDS
    assert report["version"] == 1
    assert type(report["sequence"]) is int
    assert report["sequence"] >= 1
    assert type(report["sent_ns"]) is int
    assert type(report["job"]) is str
    assert type(report["full"]) is bool
    assert type(report["final"]) is bool
    _check_source(report["source"])
    run = report["run"]
    assert run is None or (
        set(run) == {"project", "experiment_name"} and all(type(name) is str for name in run.values())
    )
    for family in report["metrics"]:
        _check_family(family)
    _check_states(report["states"])
    for span in report["spans"]:
        _check_span(span)
    numbers = [span["number"] for span in report["spans"]]
    assert numbers == sorted(set(numbers))
    for job in report["targets"]:
        assert set(job) == {"job_name", "targets"}
        for target in job["targets"]:
            assert set(target) == {"target", "labels"}
            _check_labels(target["labels"])
    assert all(type(reason) is str and type(count) is int for reason, count in report["dropped"].items())


def _check_source(source: dict[str, Any]) -> None:
    assert set(source) == {"id", "host", "pid", "start_ns"}
    assert re.fullmatch(r"[0-9a-f]{32}", source["id"])
    assert type(source["host"]) is str
    assert type(source["pid"]) is int
    assert type(source["start_ns"]) is int


def _check_family(family: dict[str, Any]) -> None:
    histogram = family["type"] == "histogram"
    assert set(family) == {"name", "type", "help", "series"} | ({"buckets"} if histogram else set())
    assert family["type"] in ("gauge", "counter", "histogram")
    assert NAME.fullmatch(family["name"])
    assert len(family["name"]) <= 255
    assert family["name"].endswith("_total") or family["type"] != "counter"
    for labels, *value in family["series"]:
        _check_labels(labels)
        if family["type"] == "gauge":
            _check_number(value[0])
            assert type(value[1]) is int
        elif family["type"] == "counter":
            _check_number(value[0])
        else:
            assert len(value[0]) == len(family["buckets"]) + 1
            assert all(type(count) is int and count >= 0 for count in value[0])
            _check_number(value[1])


def _check_labels(labels: dict[str, str]) -> None:
    for name, value in labels.items():
        assert NAME.fullmatch(name)
        assert name not in ("job", "instance", "le")
        assert not name.startswith("__")
        assert type(value) is str
        assert value


def _check_number(number: object) -> None:
    assert number in NUMBERS if isinstance(number, str) else type(number) is float and math.isfinite(number)


def _check_states(states: dict[str, Any]) -> None:
    assert set(states) == {"totals", "open"}
    for lane, state, seconds, intervals, ignored in states["totals"]:
        assert [type(field) for field in (lane, state, seconds, intervals, ignored)] == [str, str, float, int, int]
        assert min(seconds, intervals, ignored) >= 0
    for lane, state, interval_id, piece_start_ns in states["open"]:
        assert [type(field) for field in (lane, state, interval_id, piece_start_ns)] == [str, str, str, int]


def _check_span(span: dict[str, Any]) -> None:
    of_all = {"number", "kind", "name", "start_ns", "end_ns", "attributes"}
    of_states = {"lane", "state", "interval_id", "open"}
    assert span["kind"] in ("state", "duration", "span")
    assert set(span) == of_all | (of_states if span["kind"] == "state" else set())
    assert span["name"]
    assert 0 <= span["start_ns"] <= span["end_ns"]
    assert all(type(value) in (str, int, float, bool) for value in span["attributes"].values())
