"""Gauges, counters and histograms: what becomes of names, labels and values, good and bad."""

import enum
import inspect
import math
import threading
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import rl_insight
from rl_insight import metric_count, metric_gauge, metric_histogram
from rl_insight.client import client
from rl_insight.metrics import BUCKETS
from tests.client.reading import Reading, series
from tests.client.time_machine import NOON, SECOND, TimeMachine

PREFIX = "rl_insight_monitor_"
Call = Callable[..., None]


def reported() -> dict[tuple[str, tuple[tuple[str, str], ...]], list[Any]]:
    return series(Reading().reports())


def gauges() -> dict[str, Any]:
    """Values of series without labels, by name without the namespace."""
    return {name.removeprefix(PREFIX): value[0] for (name, labels), value in reported().items() if not labels}


def dropped() -> dict[str, int]:
    assert client.source is not None
    return client.source.dropped.totals()


class Tensor:
    """Like a framework's: becomes a number if it has one element."""

    def __init__(self, *values: float) -> None:
        self._values = values

    def __float__(self) -> float:
        if len(self._values) != 1:
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self._values[0]


class Hostile:
    """Raises whatever one does with it."""

    def __float__(self) -> float:
        raise KeyError("float")

    def __str__(self) -> str:
        raise OSError("str")

    def __hash__(self) -> int:
        raise MemoryError("hash")


def test_signatures() -> None:
    assert str(inspect.signature(metric_gauge)).startswith(
        "(name: str, value: float, documentation: str = '', **labels"
    )
    assert str(inspect.signature(metric_count)).startswith("(name: str, amount: float = 1.0, documentation: str = ''")
    assert str(inspect.signature(metric_histogram)).startswith("(name: str, value: float, documentation: str = ''")


@pytest.mark.parametrize(
    ("name", "exposed"),
    [
        ("val-core_openai_gsm8k_acc_mean@1", "val_core_openai_gsm8k_acc_mean_1"),
        ("a b\tc", "a_b_c"),
        ("rate:5m", "rate_5m"),
        ("größe", "gr__e"),
        ("报酬", "__"),
        ("7b", "7b"),
        ("x\ud800", "x_"),
        ("x" * 200, "x" * 200),
    ],
)
def test_names_are_sanitised(name: str, exposed: str) -> None:
    metric_gauge(name, 1.0)
    assert gauges() == {exposed: 1.0}


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "x" * 10_000, None, 5, ["a"], b"a", Hostile()])
@pytest.mark.parametrize("call", [metric_gauge, metric_count, metric_histogram])
def test_names_that_are_none_are_dropped(call: Call, name: object, caplog: pytest.LogCaptureFixture) -> None:
    call(name, 1.0)
    call(name, 1.0, label="x")
    metric_gauge("good", 1.0)
    assert gauges() == {"good": 1.0}
    assert dropped() == {"bad_name": 2}
    assert len([message for message in caplog.messages if "name" in message and len(message) < 300]) == 1


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (True, 1.0),
        (Tensor(2.5), 2.5),
        ("2.5", 2.5),
        (Decimal("2.5"), 2.5),
        (Fraction(5, 2), 2.5),
        (math.nan, "NaN"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (-0.0, -0.0),
        (1e308, 1e308),
        (2**53, float(2**53)),
    ],
)
def test_what_float_takes_is_a_value(value: Any, number: object) -> None:
    metric_gauge("value", value)
    metric_gauge("value", value)
    assert gauges() == {"value": number}
    assert dropped() == {}


@pytest.mark.parametrize("value", [None, "high", "", [1.0], Tensor(1.0, 2.0), 1j, 10**400, object(), Hostile()])
@pytest.mark.parametrize("call", [metric_gauge, metric_count, metric_histogram])
def test_what_is_no_number_is_dropped(call: Call, value: Any, caplog: pytest.LogCaptureFixture) -> None:
    call("bad", value)
    call("good", 1.0)
    call("good", value)
    assert len(reported()) == 1
    assert dropped() == {"bad_value": 2}
    assert len([message for message in caplog.messages if "no number" in message]) == 1


def test_gauges_tell_when_they_were_set(monkeypatch: pytest.MonkeyPatch) -> None:
    time = TimeMachine()
    time.install(monkeypatch)
    client.__init__()  # type: ignore[misc]
    metric_gauge("loss", 1.0)
    time.sleep(3)
    metric_gauge("loss", 2.0)
    time.sleep(3)
    assert reported() == {(PREFIX + "loss", ()): [2.0, NOON + 3 * SECOND]}


def test_counters_add_up_and_are_named_total_once() -> None:
    metric_count("steps")
    metric_count("steps_total", 2)
    metric_count("tokens", 0.5, "Tokens seen", role="actor")
    metric_count("tokens", 0.25, role="actor")
    assert reported() == {
        (PREFIX + "steps_total", ()): [3.0],
        (PREFIX + "tokens_total", (("role", "actor"),)): [0.75],
    }


@pytest.mark.parametrize("amount", [-1, -math.inf, math.nan])
def test_counters_never_fall(amount: float) -> None:
    metric_count("steps", 5)
    metric_count("steps", amount)
    assert reported() == {(PREFIX + "steps_total", ()): [5.0]}
    assert dropped() == {"bad_value": 1}


def test_histograms_count_values_up_to_each_bound() -> None:
    for value in (0.001, 0.005, 0.0051, 10.0, 10.1, math.inf, -1.0):
        metric_histogram("seconds", value)
    counts = [0] * (len(BUCKETS) + 1)
    counts[0], counts[1], counts[len(BUCKETS) - 1], counts[len(BUCKETS)] = 3, 1, 1, 2
    assert reported() == {(PREFIX + "seconds", ()): [counts, "+Inf"]}
    metric_histogram("odd", math.nan)
    assert reported()[PREFIX + "odd", ()] == [[0] * len(BUCKETS) + [1], "NaN"]


def test_the_documentation_that_came_first_stands() -> None:
    metric_gauge("loss", 1.0, "The policy's loss")
    metric_gauge("loss", 1.0, "Another", role="critic")
    metric_gauge("long", 1.0, "x" * 5_000)
    families = {family["name"]: family["help"] for family in Reading().report()["metrics"]}
    assert families == {PREFIX + "loss": "The policy's loss", PREFIX + "long": "x" * 1_000}


def test_one_name_may_come_with_different_label_sets() -> None:
    metric_gauge("loss", 1.0)
    metric_gauge("loss", 2.0, role="actor")
    metric_gauge("loss", 3.0, role="actor", rank=7)
    metric_gauge("loss", 4.0, rank="7", role="actor")
    assert {labels: value[0] for (_, labels), value in reported().items()} == {
        (): 1.0,
        (("role", "actor"),): 2.0,
        (("rank", "7"), ("role", "actor")): 4.0,
    }


class Role(str, enum.Enum):
    ACTOR = "actor"


def test_label_values_are_strings_and_equal_values_are_told_apart() -> None:
    for value in (1, True, 1.0, "1", None, "None", Role.ACTOR, "actor", Decimal(1), [1], "\ud800"):
        for _ in range(2):
            metric_count("seen", value=value)
    counted = {labels: value[0] for (_, labels), value in reported().items()}
    assert counted == {
        (("value", "1"),): 6.0,
        (("value", "True"),): 2.0,
        (("value", "1.0"),): 2.0,
        (("value", "None"),): 4.0,
        (("value", "actor"),): 4.0,
        (("value", "[1]"),): 2.0,
        (("value", "?"),): 2.0,
    }


def test_label_names_are_sanitised_and_empty_values_are_no_label() -> None:
    metric_gauge("loss", 1.0, **{"a b": "x", "7": "y", "größe": "z", "empty": ""})
    assert list(reported()) == [(PREFIX + "loss", (("_7", "y"), ("a_b", "x"), ("gr__e", "z")))]


def test_reserved_labels_are_left_out_and_the_value_stays(caplog: pytest.LogCaptureFixture) -> None:
    metric_gauge("loss", 1.0, job="a", instance="b", le="c", __name__="d", project="p")
    assert list(reported()) == [(PREFIX + "loss", (("project", "p"),))]
    assert dropped() == {"reserved_label": 4}
    assert len([message for message in caplog.messages if "reserved" in message]) == 1


@pytest.mark.parametrize(
    "labels",
    [
        {"x" * 101: "a"},
        {"": "a"},
        {"a": "x" * 1_001},
        {f"label_{number}": "a" for number in range(33)},
        {"a": Hostile()},
    ],
)
def test_labels_over_a_limit_drop_the_call(labels: dict[str, Any]) -> None:
    metric_gauge("good", 1.0)
    metric_gauge("bad", 1.0, **labels)
    assert gauges() == {"good": 1.0}
    assert dropped() == {"bad_label": 1}


def test_a_name_is_of_one_kind(caplog: pytest.LogCaptureFixture) -> None:
    metric_gauge("loss", 1.0)
    metric_count("loss")
    metric_histogram("loss", 1.0)
    metric_histogram("seconds", 1.0)
    metric_gauge("seconds_count", 1.0)
    metric_count("steps")
    metric_gauge("steps_total", 1.0)
    assert sorted(name for name, _ in reported()) == [PREFIX + name for name in ("loss", "seconds", "steps_total")]
    assert dropped() == {"type_conflict": 4}
    assert len([message for message in caplog.messages if "clashes" in message]) == 1


def test_label_sets_without_end_are_bounded() -> None:
    metric_gauge("before", 1.0)
    metrics = client.metrics
    assert metrics is not None
    for number in range(40_000):
        metric_gauge("prompts", 1.0, prompt=str(number))
        metric_count("before", 1.0) if number == 20_000 else None
    metric_gauge("before", 2.0)
    found = reported()
    assert len(found) == 10_000
    assert found[PREFIX + "before", ()][0] == 2.0
    assert dropped() == {"series_limit": 30_001, "type_conflict": 1}
    assert len(metrics.gauges) <= 20_000


def test_other_spellings_of_one_series_are_bounded_too() -> None:
    rl_insight.metric_gauge("one", 1.0)
    metrics = client.metrics
    assert metrics is not None
    metrics.max_series = 50
    for number in range(1_000):
        metric_gauge("one", float(number), empty="", **{"__" + str(number): "x"})
    assert len(metrics.gauges) <= 100
    assert gauges() == {"one": 999.0}


def test_threads_lose_nothing() -> None:
    def work() -> None:
        for number in range(5_000):
            metric_count("calls")
            metric_count("calls", 1.0, rank=number % 3)
            metric_histogram("seconds", 0.3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = reported()
    assert found[PREFIX + "calls_total", ()] == [40_000.0]
    assert sum(value[0] for (name, labels), value in found.items() if labels) == 40_000.0
    assert sum(found[PREFIX + "seconds", ()][0]) == 40_000


def test_reports_carry_what_changed() -> None:
    reading = Reading()
    metric_gauge("loss", 1.0)
    metric_count("steps")
    assert len(series([reading.report()])) == 2
    metric_count("steps")
    report = reading.report()
    assert (report["full"], series([report])) == (False, {(PREFIX + "steps_total", ()): [2.0]})
    reading.reporter.send_everything()
    report = reading.report()
    assert (report["full"], len(series([report]))) == (True, 2)
    assert reading.reporter.build("rl_insight_monitor", final=False) is None
