"""Sums that never fall: the arithmetic by itself, and through reports in any order."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.totals import folded, total

from .harness import LocalCollector
from .reports import RUN, counter, gauge, report

floats = st.floats(min_value=0, max_value=1e300, allow_nan=False)


@given(st.lists(floats, min_size=1, max_size=20), st.data())
def test_folding_some_never_lowers_the_sum(values: list[float], data: st.DataObject) -> None:
    before = total([(value,) for value in values])[0]
    rest = data.draw(st.permutations(values))
    cut = data.draw(st.integers(0, len(rest)))
    kept: list[tuple[float, ...]] = []
    for value in rest[:cut]:
        kept = [folded([(value,), *kept])]
    assert total([*kept, *((value,) for value in rest[cut:])])[0] >= before


@given(st.lists(floats, min_size=2, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_a_sum_does_not_matter(values: list[float], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert total([(value,) for value in values]) == total([(value,) for value in shuffled])


def test_infinities_do_not_raise() -> None:
    infinite = float("inf")
    assert total([(infinite,), (1.0,)]) == (infinite,)
    assert total([(1.7e308,), (1.7e308,)]) == (infinite,)
    assert str(total([(infinite,), (-infinite,)])) == "(nan,)"
    assert folded([(infinite,), (1.0,)]) == (infinite,)


steps = st.lists(
    st.tuples(
        st.sampled_from(("report", "report", "report", "repeat", "old", "restart", "wait")),
        st.integers(1, 3),
        st.floats(0, 1000),
        st.floats(-10, 10),
    ),
    min_size=1,
    max_size=25,
)


class _Model:
    """What must be shown, by the simplest means: the last report of each source."""

    def __init__(self) -> None:
        self.sequence = dict.fromkeys((1, 2, 3), 0)
        self.counted = dict.fromkeys((1, 2, 3), 0.0)
        self.gauge = 0.0
        self.clock = 0

    def report(self, source: int, more: float, value: float) -> dict[str, Any]:
        self.sequence[source] += 1
        self.counted[source] += more
        self.gauge, self.clock = value, self.clock + 1
        metrics = [counter("a_total", self.counted[source]), gauge("g", value, self.clock)]
        return report(source, self.sequence[source], run=RUN, full=True, metrics=metrics)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_reports_in_any_order_give_what_a_simple_model_gives(steps: Sequence[tuple[str, int, float, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _play(Path(folder), steps)


def _play(folder: Path, steps: Sequence[tuple[str, int, float, float]]) -> None:
    model, sent = _Model(), dict[int, list[dict[str, Any]]]()
    collector = LocalCollector(folder)
    collector.__enter__()
    shown, gauge_known = 0.0, False
    try:
        for what, source, more, value in steps:
            if what == "report":
                content = model.report(source, more, value)
                sent.setdefault(source, []).append(content)
                assert collector.accepted(content)["acknowledged"] == content["sequence"]
                gauge_known = True
            elif what in ("repeat", "old") and sent.get(source):
                collector.accepted(sent[source][-1 if what == "repeat" else 0])
            elif what == "restart":
                collector.__exit__(None, None, None)
                collector = LocalCollector(folder)
                collector.__enter__()
                gauge_known = False
            elif what == "wait":
                collector.pass_time(10)
            if any(sent.values()):
                counted = collector.value("a_total", **RUN) or 0.0
                assert abs(counted - sum(model.counted.values())) < 1e-6
                assert counted >= shown
                shown = counted
                assert collector.value("g", **RUN) == (model.gauge if gauge_known else None)
    finally:
        collector.__exit__(None, None, None)
