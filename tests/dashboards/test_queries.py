"""Every query of every dashboard, run on a real Prometheus that holds several runs at once."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from dashboards_src.run import RUN
from tests.dashboards.queries import Asked, asked, built
from tests.support.grafana import ALL, interpolate
from tests.support.history import ASYNC, DEMO, NAMESAKE, OLD_SGLANG, OLD_VLLM, SGLANG_SYNC, VLLM_SYNC, Run

VLLM = "verl_trainer_v1_with_vllm_engine"
SGLANG = "verl_trainer_v1_with_sglang_engine"

SCENARIOS = {
    "sync, vLLM": (VLLM, VLLM_SYNC.labels),
    "sync, SGLang": (SGLANG, SGLANG_SYNC.labels),
    "separate async, vLLM": (VLLM, ASYNC.labels),
    "sync, older vLLM": (VLLM, OLD_VLLM.labels),
    "sync, older SGLang": (SGLANG, OLD_SGLANG.labels),
    "quick start": ("quick_start_demo", DEMO),
}

NOT_ASYNC = {
    "Async: staleness, waiting, weight sync": (
        "Staleness of trajectories",
        "Worst-case staleness of trajectories",
        "Weight versions in a trajectory",
        "Idle share of trainer and rollouter",
        "Dropped as too old",
        "Age of groups dropped as too old",
        "Trajectories that cross a weight sync",
        "Share of trajectories that cross a weight sync",
        "Most weight syncs inside a trajectory",
        "Samples since the start",
        "Weight version of the trainer",
        "Time of a weight version",
        "Samples generated in a weight version",
        "Switching trainer devices",
        "Background generation of a batch",
        "Prompt groups for the next step",
    ),
    "Timeline: rollout and training apart": ("Staleness of trained trajectories",),
}
"""Only async trainers report these."""

NO_CRITIC = {"Training: critic": ALL}
"""GRPO and its kin have no value model."""

NO_AGENT = {
    "Training: sequence lengths and turns": (
        "Turns of a conversation",
        "Turns of a training sample",
        "Tool calls of a sample",
    ),
    "Training: time of a step": ("Tool time of a trajectory",),
}
"""Only agent loops have turns and tools."""

NO_SPECULATION = {
    "Training: throughput and MFU": (
        "Speculative decoding as the trainer sees it",
        "Acceptance rate of speculative decoding",
    )
}
"""The trainer logs these only where rollout speculates."""

NO_MOE = {"Training: throughput and MFU": ("Expert routing was recorded", "Expert assignments counted")}
"""Only mixture-of-experts models route."""

NO_WEIGHTING = {
    "Precision: rollout against trainer": (
        "Importance weights",
        "Effective sample size after weighting",
        "Share that rejection removes",
    )
}
"""Only with rollout correction by importance weights or rejection."""

NO_KL_PENALTY = {"Training: rewards and progress": ("KL penalty in the reward",)}
"""Only with use_kl_in_reward."""

NO_DISTILLATION = {"Training: distillation": ALL}
"""Only on-policy distillation has a teacher."""

NO_TRANSFER_QUEUE = {
    "TransferQueue": ALL,
    "Overview": ("TransferQueue backlog",),
    "Timeline: rollout and training apart": ("Queue depth",),
}
"""The run has no TransferQueue, or its endpoint is down."""

NO_ALERT = {"Scrape targets and alerts": ("Alerts firing",)}
"""Nothing fires, which is as it should be."""

NOTHING_ELSE = {"Everything else that the trainer reports": ALL}
"""The run reports nothing that no panel lists."""

OLDER_VLLM = {
    "Rollout: requests and lengths": ("Why requests wait", "Awake or asleep"),
    "Rollout: speculative decoding": ALL,
}
"""vLLM did not report these yet, or the run does not speculate."""

OLDER_SGLANG = {
    "Rollout: throughput and load": (
        "Paused requests",
        "Paused requests: spread over replicas",
        "Paused requests: highest",
    ),
    "Rollout: cache": (
        "Retracted requests that wait",
        "Retracted requests that wait: spread over replicas",
        "Retracted requests that wait: highest",
    ),
    "Rollout: requests and lengths": (
        "Where a request's time goes",
        "Prompt length",
        "Generation length",
    ),
    "Rollout: replica $replica": ("Generation length of this replica",),
    "Rollout: speculative decoding": ALL,
}
"""SGLang did not report these yet, or the run does not speculate."""

RIGHTLY_EMPTY: dict[str, tuple[Mapping[str, Any], ...]] = {
    "sync, vLLM": (
        NOT_ASYNC,
        NO_CRITIC,
        NO_AGENT,
        NO_SPECULATION,
        NO_MOE,
        NO_WEIGHTING,
        NO_KL_PENALTY,
        NO_DISTILLATION,
        NO_ALERT,
    ),
    "sync, SGLang": (
        NOT_ASYNC,
        NO_SPECULATION,
        NO_MOE,
        NO_WEIGHTING,
        NO_DISTILLATION,
        NO_TRANSFER_QUEUE,
        NO_ALERT,
        NOTHING_ELSE,
    ),
    "separate async, vLLM": (NO_CRITIC, NO_MOE, NO_KL_PENALTY, NO_DISTILLATION),
    "sync, older vLLM": (
        NOT_ASYNC,
        NO_CRITIC,
        NO_AGENT,
        NO_SPECULATION,
        NO_MOE,
        NO_WEIGHTING,
        NO_KL_PENALTY,
        NO_TRANSFER_QUEUE,
        NO_ALERT,
        NOTHING_ELSE,
        OLDER_VLLM,
    ),
    "sync, older SGLang": (
        NOT_ASYNC,
        NO_CRITIC,
        NO_AGENT,
        NO_SPECULATION,
        NO_WEIGHTING,
        NO_KL_PENALTY,
        NO_DISTILLATION,
        NO_TRANSFER_QUEUE,
        NO_ALERT,
        NOTHING_ELSE,
        OLDER_SGLANG,
    ),
    "quick start": (),
}


def chosen_values(labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        **labels,
        "lane": ["replica_0", "rank_0"],
        "replica": "0",
        "node": ALL,
        "metric": [
            "rl_insight_monitor_my_custom_reward",
            "rl_insight_monitor_dynamic_resource_mq_size",
        ],
    }


def answer(history: Any, query: Asked, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What Grafana would get for the last half hour of the history."""
    expr = interpolate(query.expr, values)
    if query.instant:
        return history.server.query(expr, history.END)
    return history.server.query_range(expr, history.END - 1800, history.END, 60)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_panels_have_data_unless_they_are_rightly_empty(scenario: str, history: Any) -> None:
    name, labels = SCENARIOS[scenario]
    has_data: dict[tuple[str, str], bool] = {}
    for query in asked(built(name)):
        panel = (query.section, query.panel)
        has_data[panel] = bool(answer(history, query, chosen_values(labels))) or has_data.get(panel, False)
    expected = {
        panel
        for reason in RIGHTLY_EMPTY[scenario]
        for section, titles in reason.items()
        for panel in has_data
        if panel[0] == section and (titles == ALL or panel[1] in titles)
    }
    assert {panel for panel, has in has_data.items() if not has} == expected


def test_every_query_has_data_in_some_run(history: Any) -> None:
    """A name misspelt in one of a panel's queries would go unseen behind the others."""
    has_data: dict[str, bool] = {}
    for name, labels in SCENARIOS.values():
        for query in asked(built(name)):
            has = bool(answer(history, query, chosen_values(labels)))
            has_data[str(query)] = has or has_data.get(str(query), False)
    assert [query for query, has in has_data.items() if not has] == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_query_shows_another_run(scenario: str, history: Any) -> None:
    name, labels = SCENARIOS[scenario]
    for query in asked(built(name)):
        for series in answer(history, query, chosen_values(labels)):
            for label in RUN.labels:
                assert series["metric"].get(label, labels[label]) == labels[label], str(query)


def test_runs_shown_together_are_not_added_up(history: Any) -> None:
    """What a run shows is the same whether it is chosen alone or with others."""
    both = {
        "project": [VLLM_SYNC.project, NAMESAKE.project],
        "experiment_name": [VLLM_SYNC.experiment_name, ASYNC.experiment_name],
    }
    for query in asked(built(VLLM)):
        alone = answer(history, query, chosen_values(VLLM_SYNC.labels))
        together = answer(history, query, chosen_values(VLLM_SYNC.labels) | both)
        if query.panel in {"Scrape targets down", "Alerts firing"}:
            continue  # one number for all that is chosen
        assert _of(VLLM_SYNC.labels, together) == _of(VLLM_SYNC.labels, alone), str(query)


def _of(labels: Mapping[str, str], series: list[dict[str, Any]]) -> list[Any]:
    """The series of one run or of none, in an order of their own."""
    own = [each for each in series if labels.items() <= {**labels, **each["metric"]}.items()]
    return sorted(([sorted(each["metric"].items()), _rounded(each)] for each in own), key=str)


def _rounded(series: dict[str, Any]) -> list[str]:
    """The values, without the last digits: they depend on the order in which floats are added."""
    samples = series["values"] if "values" in series else [series["value"]]
    return [f"{float(value):.9g}" for _, value in samples]


@pytest.mark.parametrize("name", [VLLM, SGLANG])
def test_all_chosen_shows_what_carries_no_run_too(name: str, history: Any) -> None:
    values = chosen_values({"project": ALL, "experiment_name": ALL})
    for query in asked(built(name)):
        answer(history, query, values)  # raises where Prometheus refuses it


@pytest.mark.parametrize("name", [VLLM, SGLANG, "quick_start_demo"])
def test_annotations_are_understood(name: str, history: Any) -> None:
    for annotation in built(name)["annotations"]["list"]:
        expr = interpolate(annotation["expr"], chosen_values(ASYNC.labels))
        assert history.server.query_range(expr, history.END - 1800, history.END, 15)


def test_the_precision_verdict_is_given_for_a_run_that_measures_it_and_for_one_that_does_not(history: Any) -> None:
    verdict = next(query for query in asked(built(VLLM)) if query.panel == "Rollout precision")

    def values(labels: Mapping[str, str]) -> list[float]:
        return [float(series["value"][1]) for series in answer(history, verdict, chosen_values(labels))]

    assert 0 < values(VLLM_SYNC.labels)[0] < 0.005
    assert values(ASYNC.labels)[0] > 0.01
    assert len(values(ASYNC.labels)) == 1
    assert values(DEMO) == [-1]


SINCE_STEP = next(query for query in asked(built(VLLM)) if query.panel == "Since the last step")


@pytest.mark.parametrize("moment", [600, 1234, 2500, 3600])
@pytest.mark.parametrize("run", [VLLM_SYNC, ASYNC], ids=["sync", "async"])
def test_the_time_since_the_last_step_is_right_to_about_a_minute(run: Run, moment: int, history: Any) -> None:
    now = history.START + moment
    asked_at = interpolate(SINCE_STEP.expr, chosen_values(run.labels))
    in_steps = float(history.server.query(asked_at, now)[0]["value"][1])
    usual = f"quantile_over_time(0.5, rl_insight_monitor_perf_time_per_step{{{run.selector}}}[1h])"
    seconds = in_steps * max(60, float(history.server.query(usual, now)[0]["value"][1]))
    step = f"rl_insight_monitor_training_global_step{{{run.selector}}}"
    samples = history.server.query(f"{step}[1h]", now)[0]["values"]
    rises = [when for (_, before), (when, after) in pairwise(samples) if after != before]
    assert -1 <= now - rises[-1] - seconds <= 75


def test_before_the_first_step_ends_the_time_is_counted_from_when_the_run_was_first_seen(history: Any) -> None:
    asked_at = interpolate(SINCE_STEP.expr, chosen_values(VLLM_SYNC.labels))
    assert float(history.server.query(asked_at, history.START + 20)[0]["value"][1]) <= 20 / 60


def test_a_step_is_marked_once(history: Any) -> None:
    steps = next(each for each in built(VLLM)["annotations"]["list"] if each["name"] == "Training steps")
    expr = interpolate(steps["expr"], chosen_values(VLLM_SYNC.labels))
    marks = history.server.query_range(expr, history.END - 1800, history.END, 15)[0]["values"]
    begin, end = (
        int(
            history.server.query(
                RUN.select("rl_insight_monitor_training_global_step")
                .replace("=~", "=")
                .replace("$project", VLLM_SYNC.project)
                .replace("$experiment_name", VLLM_SYNC.experiment_name),
                moment,
            )[0]["value"][1]
        )
        for moment in (history.END - 1800, history.END)
    )
    assert len(marks) == end - begin


@pytest.mark.parametrize("name", [VLLM, SGLANG])
def test_variables_offer_the_values_there_are(name: str, history: Any) -> None:
    """label_values(selector, label) is answered from the series that match the selector."""
    run = VLLM_SYNC if name == VLLM else SGLANG_SYNC
    expected = {
        "project": {"verl", "verl-async", "legacy", "other"},
        "experiment_name": {"qwen2.5-7b_sync", "sglang_sync"},
        "lane": {f"replica_{n}" for n in range(4)} | {f"rank_{n}" for n in range(8)},
        "replica": {"0", "1", "2", "3"},
        "node": {"gpu-node-0:9100", "gpu-node-1:9100", "gpu-node-0:9400", "gpu-node-1:9400", "npu-node-0:8082"},
    }
    for variable in built(name)["templating"]["list"]:
        if variable["name"] in expected:
            selector, label = variable["query"]["query"].removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
            values = chosen_values(
                {**run.labels, "experiment_name": ALL} if variable["name"] == "experiment_name" else run.labels
            )
            found = history.server.query(f"group by ({label}) ({interpolate(selector, values)})", history.END)
            assert {each["metric"][label] for each in found if label in each["metric"]} == expected[variable["name"]]
