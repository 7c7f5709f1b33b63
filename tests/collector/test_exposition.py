"""/metrics in both formats, read back by prometheus_client's parsers."""

import math
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families

from collector.exposition import OPENMETRICS, PLAIN, content_type

from .harness import LocalCollector, parsed
from .reports import RUN, counter, gauge, histogram, report, state_span, states

ODD = 'a "quoted"\\ back\\slash\nline ü 漢 {},='


def openmetrics(collector: LocalCollector) -> str:
    answer = collector.client.get("/metrics", headers={"Accept": OPENMETRICS})
    assert answer.headers["content-type"] == OPENMETRICS
    return answer.text


def everything() -> list[dict[str, Any]]:
    return [
        gauge("g", "NaN", a=ODD),
        gauge("g2", "+Inf"),
        gauge("g3", "-Inf"),
        gauge("g4", 1e300, _x=""),
        gauge("g5_total", 3),
        counter("c_total", 1e18),
        counter("d_total", 2.5),
        histogram("h", [1, 2, 3], 4.5, b=ODD),
        histogram("signed", [1, 2, 3], -4.5, buckets=(-1.0, 1.0)),
        histogram("nan", [1, 2, 3], "NaN"),
    ]


def fill(collector: LocalCollector) -> None:
    spent = states([ODD, "vllm_generate", 1.25, 3, 1])
    content = report(
        run={"project": ODD, "experiment_name": "e"}, metrics=everything(), states=spent, spans=[state_span(1)]
    )
    collector.accepted({**content, "dropped": {"series_limit": 2}})


def test_every_value_and_label_survives(collector: LocalCollector) -> None:
    fill(collector)
    run = {"project": ODD, "experiment_name": "e"}
    assert math.isnan(collector.value("g", a=ODD, **run) or 0)
    assert collector.value("g2", **run) == math.inf
    assert collector.value("g3", **run) == -math.inf
    assert collector.value("g4", **run) == 1e300
    assert collector.value("c_total", **run) == 1e18
    assert collector.value("d_total", **run) == 2.5
    buckets = [collector.value("h_bucket", b=ODD, le=bound, **run) for bound in ("1.0", "2.0", "+Inf")]
    assert buckets == [1, 3, 6]
    assert collector.value("h_count", b=ODD, **run) == 6
    assert collector.value("h_sum", b=ODD, **run) == 4.5
    assert collector.value("signed_sum", **run) == -4.5
    lane = {"state_lane_id": ODD, "state_name": "vllm_generate", **run}
    assert collector.value("rl_insight_state_seconds_total", **lane) == 1.25
    assert collector.value("rl_insight_state_intervals_total", **lane) == 3
    assert collector.value("rl_insight_state_ignored_total", **lane) == 1
    assert collector.value("rl_insight_client_dropped_total", reason="series_limit", **run) == 2


def test_openmetrics_says_the_same(collector: LocalCollector) -> None:
    fill(collector)
    families = list(openmetrics_families(openmetrics(collector)))
    found = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value for one in families for sample in one.samples
    }
    moving = ("rl_insight_collector_", "nan_sum")
    plain = parsed(collector.client.get("/metrics").text)
    same = {key: value for key, value in found.items() if not key[0].startswith(moving) and not math.isnan(value)}
    assert same.items() <= plain.items()
    assert {name for name, _ in plain} == {name for name, _ in found}


def test_the_formats_differ_where_they_must(collector: LocalCollector) -> None:
    fill(collector)
    plain, om = collector.client.get("/metrics").text, openmetrics(collector)
    assert "# TYPE c_total counter\n# " not in plain.replace("\nc_total", "")
    assert "# TYPE c_total counter\n" in plain
    assert "# TYPE c counter\n" in om
    assert "# TYPE rl_insight_state_seconds counter\n" in om
    assert "# TYPE h histogram\n" in plain
    assert "# TYPE h histogram\n" in om
    assert "# TYPE signed histogram\n" in plain
    assert "# TYPE signed_sum unknown\n" in om
    assert "# EOF" not in plain
    assert om.endswith("\n# EOF\n")
    assert om.count("# EOF") == 1


def test_help_is_escaped(collector: LocalCollector) -> None:
    family = {**gauge("g", 1), "help": 'a "b"\\ \n c'}
    collector.accepted(report(run=RUN, metrics=[family]))
    assert '# HELP g a "b"\\\\ \\n c\n' in collector.client.get("/metrics").text
    assert '# HELP g a \\"b\\"\\\\ \\n c\n' in openmetrics(collector)


def test_a_counter_whose_short_name_is_a_gauge_stays_valid_openmetrics(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, metrics=[gauge("steps", 1), counter("steps_total", 2)]))
    samples = {
        sample.name: sample.value for one in openmetrics_families(openmetrics(collector)) for sample in one.samples
    }
    assert (samples["steps"], samples["steps_total"]) == (1, 2)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", PLAIN),
        ("application/openmetrics-text", OPENMETRICS),
        ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75", OPENMETRICS),
        ('application/openmetrics-text; version="1.0.0"; charset=utf-8', OPENMETRICS),
        ("application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4", PLAIN),
    ],
)
def test_the_format_is_what_the_scraper_asks_for(accept: str, wanted: str) -> None:
    assert content_type(accept) == wanted


def test_a_label_without_a_value_is_none(collector: LocalCollector) -> None:
    family = {"name": "g", "type": "gauge", "help": "", "series": [[{}, 1, 1], [{"a": "", "b": ""}, 2, 2]]}
    collector.accepted(report(run=RUN, metrics=[family, gauge("h", 3, a="", b="x")]))
    assert collector.value("g", **RUN) == 2
    assert collector.value("h", b="x", **RUN) == 3
    assert 'a=""' not in collector.client.get("/metrics").text
