"""Rules about queries, in the cases that are easily got wrong."""

import dataclasses

import pytest

from tests.lint.boards import (
    DATASOURCE,
    KNOWN,
    board,
    findings,
    panel,
    rules,
    variable,
)

RUN_VARIABLES = (
    variable("project", "label_values(trainer_reward, project)"),
    variable("experiment_name", 'label_values(trainer_reward{project=~"$project"}, experiment_name)'),
)


@pytest.mark.parametrize(
    ("expr", "blamed"),
    [
        ("requests_total", True),
        ("rate(requests_total[$__rate_interval])", False),
        ("resets(requests_total[1h])", False),
        ("changes(requests_total[1h])", False),
        ("count(requests_total)", False),
        ("max_over_time(rate(requests_total[$__rate_interval])[1h:])", False),
        ("latency_seconds_count", True),
        ("latency_seconds_sum / latency_seconds_count", True),
        ("unheard_of_total", True),
        ("unheard_of_bucket", True),
        ("replica_count", False),  # a gauge, by all that can be known
        ("unheard_of_sum / unheard_of_count", True),
        ("pieces_total", False),  # a gauge in spite of its name
    ],
)
def test_counters_are_told_from_gauges(expr: str, blamed: bool) -> None:
    assert bool(findings(board(panel(expr)), "counter-without-rate")) is blamed


def test_without_known_metrics_the_name_decides() -> None:
    (found,) = findings(board(panel("pieces_total")), "counter-without-rate", known=None)
    assert found.message == "pieces_total by its name is a counter, but under no rate or increase"
    assert "unknown-metric" not in rules(board(panel("pieces_total")), known=None)


@pytest.mark.parametrize(
    ("expr", "blamed"),
    [
        ("rate(requests_total[$__interval])", True),
        ("rate(requests_total[${__interval}])", True),
        ("increase(requests_total[$__interval])", True),
        ("irate(requests_total[1m30s])", True),
        ("increase(requests_total[1h])", False),
        ("rate(requests_total[$__range])", False),
        ("rate(requests_total[$window])", False),
        ("rate(requests_total[${__rate_interval}] offset 1h)", False),
        ("max_over_time(queue_size[5m])", False),
    ],
)
def test_windows_of_rates(expr: str, blamed: bool) -> None:
    window = {"type": "interval", "name": "window", "query": "1m,5m"}
    assert bool(findings(board(panel(expr), variables=(window,)), "rate-interval")) is blamed


def test_a_run_filter_is_asked_of_patterns_and_of_variables_too() -> None:
    pattern = board(panel('{__name__=~"trainer_val_.*"}'), variables=RUN_VARIABLES)
    assert len(findings(pattern, "run-filter")) == 1
    blind = (RUN_VARIABLES[0], variable("experiment_name", "label_values(trainer_reward, experiment_name)"))
    (found,) = findings(board(variables=blind), "run-filter")
    assert found.message == 'the query of $experiment_name: trainer_reward lacks project=~"$project"'
    assert findings(board(variables=RUN_VARIABLES), "run-filter") == []


def test_metrics_beside_those_known_may_be_unknown() -> None:
    some = dataclasses.replace(KNOWN, complete=False)
    found = findings(board(panel("queue_sizes + requests_total")), known=some)
    assert [one.rule for one in found] == ["counter-without-rate"]


def test_a_long_selector_is_shortened_in_the_message() -> None:
    names = "|".join(f"name_{number}" for number in range(200))
    (found,) = findings(board(panel(f'{{job="x", __name__=~"trainer_({names})"}}')), "run-filter")
    assert len(found.message) < 260


def test_an_old_annotation_keeps_its_query_in_a_target() -> None:
    annotation = {"name": "deploys", "datasource": DATASOURCE, "target": {"expr": "sum(", "refId": "Anno"}}
    (found,) = findings(board(annotations={"list": [annotation]}), "promql")
    assert found.query == "the annotation deploys"
