"""The history that the dashboards' tests run on is what they take it for."""

import json
import re

import pytest

from dashboards_src.catalog import BY_NAME
from dashboards_src.catalog.exposed import OLDER, RENAMED, SGLANG, TRANSFER_QUEUE, VLLM, ExposedMetric
from tests.conftest import History
from tests.support import history as simulated
from tests.support.history import Run

TARGET_LABELS = {"__name__", "job", "instance", "project", "experiment_name", "replica", "le"}
UNLISTED = {"engine_type", "tp_rank", "pp_rank", "moe_ep_rank", "dp_rank", "cache_type", "gt"} | {
    "max_lora",
    "running_lora_adapters",
    "waiting_lora_adapters",
}
"""Labels that depend on the deployment and so are not in the tables."""


def _series(history: History, run: Run, prefix: str) -> list[dict[str, str]]:
    selector = f'{{__name__=~"{prefix}.+",{run.selector}}}'
    return [found["metric"] for found in history.server.query(selector, history.END)]


def _value(history: History, expr: str) -> float:
    result = history.server.query(expr, history.END)
    assert len(result) == 1, f"{expr} has {len(result)} series"
    return float(result[0]["value"][1])


def _exposed_names(metric: ExposedMetric) -> set[str]:
    suffixes = {"histogram": ("_bucket", "_count", "_sum"), "summary": ("_count", "_sum")}
    return {metric.name + suffix for suffix in suffixes.get(metric.type, ("",))}


def test_every_run_has_trainer_state_and_engine_data(history: History) -> None:
    for run in history.RUNS:
        steps = _value(history, f"rl_insight_monitor_training_global_step{{{run.selector}}}")
        assert steps > 150
        lanes = f"count(count by (state_lane_id) (rl_insight_state_seconds_total{{{run.selector}}}))"
        assert _value(history, lanes) == run.replicas + run.ranks
        replicas = f'count(count by (replica) ({{__name__=~"{run.engine}:num_.*running.*",{run.selector}}}))'
        assert _value(history, replicas) == run.replicas


def test_every_listed_trainer_metric_is_in_some_run(history: History) -> None:
    names = history.server.query('group by (__name__) ({__name__=~"rl_insight_monitor_.+"})', history.END)
    assert set(BY_NAME) <= {found["metric"]["__name__"] for found in names}


def test_two_runs_of_one_name_differ(history: History) -> None:
    def reward(run: Run) -> float:
        return _value(history, f"rl_insight_monitor_critic_rewards_mean{{{run.selector}}}")

    assert reward(history.VLLM_SYNC) > 2 * reward(history.NAMESAKE)


def test_the_slow_replica_takes_twice_as_long(history: History) -> None:
    median = (
        "histogram_quantile(0.5, sum by (replica, le) "
        f"(rate(vllm:e2e_request_latency_seconds_bucket{{{history.VLLM_SYNC.selector}}}[10m])))"
    )
    by_replica = {
        found["metric"]["replica"]: float(found["value"][1]) for found in history.server.query(median, history.END)
    }
    others = [seconds for replica, seconds in by_replica.items() if replica != "3"]
    assert len(others) == 3
    assert by_replica["3"] == pytest.approx(2 * max(others), rel=0.15)


def test_seconds_in_states_follow_the_clock(history: History) -> None:
    selector = f"rl_insight_state_seconds_total{{{history.VLLM_SYNC.selector}}}"
    busiest = f"max(sum by (state_lane_id) (rate({selector}[10m])))"
    assert 0.3 < _value(history, busiest) < 1.0
    asynchronous = f'state_name="vllm_generate",{history.ASYNC.selector}'
    generating = f"avg(rate(rl_insight_state_seconds_total{{{asynchronous}}}[30m]))"
    assert _value(history, generating) > 0.9


def test_a_restart_resets_counters_and_nothing_else_does(history: History) -> None:
    total = "vllm:generation_tokens_total"
    for run, expected in ((history.VLLM_SYNC, 1.0), (history.ASYNC, 0.0)):
        resets = f"sum(resets({total}{{{run.selector}}}[1h]))"
        assert _value(history, resets) == expected
    restarted = f'resets({total}{{replica="2",{history.VLLM_SYNC.selector}}}[1h])'
    assert _value(history, restarted) == 1.0
    states = "sum(resets(rl_insight_state_seconds_total[1h]))"
    assert _value(history, states) == 0.0


@pytest.mark.parametrize(
    ("run", "table", "prefix"),
    [
        (simulated.VLLM_SYNC, VLLM, "vllm:"),
        (simulated.SGLANG_SYNC, SGLANG, "sglang:"),
        (simulated.VLLM_SYNC, TRANSFER_QUEUE, "tq_"),
    ],
)
def test_names_and_labels_are_the_tables(
    history: History, run: Run, table: dict[str, ExposedMetric], prefix: str
) -> None:
    labels: dict[str, set[str]] = {}
    for series in _series(history, run, prefix):
        labels.setdefault(series["__name__"], set()).update(series)
    assert set(labels) == set().union(*(_exposed_names(metric) for metric in table.values()))
    for metric in table.values():
        for name in _exposed_names(metric):
            assert labels[name] - TARGET_LABELS - UNLISTED == set(metric.labels) - UNLISTED, name
            assert set(metric.labels) <= labels[name], name
            assert "le" in labels[name] or not name.endswith("_bucket"), name


@pytest.mark.parametrize("run", [simulated.OLD_VLLM, simulated.OLD_SGLANG], ids=lambda run: run.engine)
def test_an_older_engine_has_older_names_only(history: History, run: Run) -> None:
    names = {series["__name__"] for series in _series(history, run, f"{run.engine}:")}
    for current, olders in RENAMED.items():
        if current.startswith(run.engine):
            assert all(_exposed_names(OLDER[old]) <= names for old in olders)
            assert not any(re.fullmatch(f"{current}(_bucket|_count|_sum)?", name) for name in names)


def test_one_replica_has_two_engines(history: History) -> None:
    for run, label in ((history.VLLM_SYNC, "engine"), (history.SGLANG_SYNC, "dp_rank")):
        running = f'{{__name__=~".+:num_(requests_running|running_reqs)",replica="1",{run.selector}}}'
        assert {found["metric"][label] for found in history.server.query(running, history.END)} == {"0", "1"}


def test_rollout_and_trainer_drift_apart_in_the_asynchronous_run_only(history: History) -> None:
    name = "rl_insight_monitor_training_rollout_probs_diff_mean"
    for run in history.RUNS:
        mean = f"avg_over_time({name}{{{run.selector}}}[20m])"
        assert (_value(history, mean) > 0.01) == run.asynchronous


def test_a_target_is_down_and_an_alert_fires(history: History) -> None:
    down = history.server.query("up == 0", history.END)
    assert [found["metric"]["job"] for found in down] == ["transfer_queue"]
    firing = history.server.query('ALERTS{alertstate="firing"}', history.END)
    assert [found["metric"]["experiment_name"] for found in firing] == [history.ASYNC.experiment_name]


def test_hardware_carries_no_run(history: History) -> None:
    hardware = '{__name__=~"(node|DCGM|npu)_.+"}'
    assert _value(history, f"count({hardware})") > 100
    assert not history.server.query('{__name__=~"(node|DCGM|npu)_.+",project!=""}', history.END)


def test_a_refused_query_says_why(history: History) -> None:
    with pytest.raises(AssertionError, match="parse error"):
        history.server.query("sum(", history.END)


def test_spans_are_the_states_of_the_counters(history: History) -> None:
    spent: dict[tuple[object, ...], float] = {}
    for span in simulated.spans():
        json.dumps(span)
        key = tuple(span[name] for name in ("project", "experiment_name", "state_lane_id", "state_name"))
        spent[key] = spent.get(key, 0.0) + float(str(span["duration_ns"])) / 1e9
    counted = history.server.query('rl_insight_state_seconds_total{project!="demo"}', history.END)
    assert len(counted) == len(spent)
    for found in counted:
        labels = found["metric"]
        key = (labels["project"], labels["experiment_name"], labels["state_lane_id"], labels["state_name"])
        assert float(found["value"][1]) == pytest.approx(spent[key], abs=0.1)
