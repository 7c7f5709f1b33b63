"""The client as verl uses it: what each of its processes calls, in its order."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

import rl_insight
from tests.client.stub import Stub

PREFIX = "rl_insight_monitor_"


class TrainerLogger:
    """What verl's logger calls: `init` once, then a gauge for each scalar of a step."""

    def __init__(self, project: str, experiment_name: str) -> None:
        rl_insight.init(project=project, experiment_name=experiment_name, config={})

    def log(self, data: dict[str, object]) -> None:
        for key, value in data.items():
            try:
                scalar = float(value)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
            rl_insight.metric_gauge(str(key).replace("/", "_"), scalar)


@contextmanager
def traced(state: str, lane: str) -> Iterator[None]:
    """verl enters states through a generator of its own."""
    with rl_insight.trace_state(state, state_lane_id=lane):
        yield


def test_version_is_recent_enough_for_verl() -> None:
    major, minor, *_ = rl_insight.__version__.split(".")
    assert (int(major), int(minor)) >= (0, 3)


def test_the_trainers_scalars_arrive_with_the_run(server: Stub) -> None:
    logger = TrainerLogger("verl_examples", "gsm8k")
    step = {f"timing_s/part_{number}": number / 7 for number in range(150)}
    for _ in range(3):
        logger.log({**step, "val-core/openai/gsm8k/acc/mean@1": 0.75, "actor/grad_norm": math.nan, "bad": object()})
    rl_insight.finish()
    series = server.series()
    assert series[PREFIX + "val_core_openai_gsm8k_acc_mean_1{}"] == 0.75
    assert series[PREFIX + "actor_grad_norm{}"] == "NaN"
    assert series[PREFIX + "timing_s_part_149{}"] == 149 / 7
    assert len(series) == 152
    assert server.reports[-1]["run"] == {"project": "verl_examples", "experiment_name": "gsm8k"}
    assert server.reports[-1]["final"] is True


def test_targets_registered_before_init_arrive_after_it(stub: Stub, caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.update_prometheus_config(["10.0.0.1:8000", "[fe80::1]:8001"], "vllm", [{"replica": 0}, {"replica": 1}])
    rl_insight.init(project="p", experiment_name="e", config={"server": {"url": stub.url}})
    rl_insight.update_prometheus_config(["10.0.0.1:9000"], "transfer_queue", None)
    rl_insight.finish()
    assert stub.targets() == {
        ("vllm", "10.0.0.1:8000"): {"replica": "0"},
        ("vllm", "[fe80::1]:8001"): {"replica": "1"},
        ("transfer_queue", "10.0.0.1:9000"): {},
    }
    assert {report["run"]["project"] for report in stub.reports} == {"p"}
    assert caplog.messages == []


def test_metrics_before_init_are_kept_for_it_and_it_is_said(stub: Stub, caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.metric_count("steps", 3)
    with traced("actor_update", "rank_0"):
        pass
    rl_insight.init(project="p", experiment_name="e", config={"server": {"url": stub.url}})
    rl_insight.metric_count("steps")
    rl_insight.finish()
    assert stub.series() == {PREFIX + "steps_total{}": 4.0}
    assert [span["lane"] for span in stub.spans()] == ["rank_0"]
    assert len(caplog.messages) == 1
    assert "init()" in caplog.messages[0]


def test_a_rollout_manager_in_a_process_that_never_calls_init_is_heard(server: Stub) -> None:
    rl_insight.update_prometheus_config(["10.0.0.1:8000"], "sglang", [{"replica": 0}])
    server.wait(lambda stub: stub.targets())
    assert server.reports[0]["run"] is None


def test_a_later_init_names_the_run_of_a_client_that_started_by_itself(
    server: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    rl_insight.update_prometheus_config(["10.0.0.1:8000"], "vllm")
    server.wait(lambda stub: stub.reports)
    rl_insight.init(project="p", experiment_name="e", config={"namespace": "mine"})
    rl_insight.metric_gauge("loss", 1.0)
    rl_insight.finish()
    assert server.reports[-1]["run"] == {"project": "p", "experiment_name": "e"}
    assert server.series() == {"mine_loss{}": 1.0}
    assert len(server.sources()) == 1
    assert caplog.messages == []


def test_an_agent_loop_worker_names_the_run_after_a_bare_init(server: Stub, caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.init()
    server.wait(lambda stub: stub.reports and stub.reports[-1]["run"] is None)
    rl_insight.init(project="p", experiment_name="e", config={})
    rl_insight.finish()
    assert server.reports[-1]["run"] == {"project": "p", "experiment_name": "e"}
    assert caplog.messages == []


def test_a_second_init_warns_and_the_first_stands(server: Stub, caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.init(project="first", experiment_name="e")
    rl_insight.init(project="second", experiment_name="e")
    rl_insight.init()
    rl_insight.finish()
    assert server.reports[-1]["run"]["project"] == "first"
    assert len(caplog.messages) == 1
    assert "first init()" in caplog.messages[0]


def test_init_after_finish_is_a_new_source(server: Stub) -> None:
    for project in ("one", "two"):
        rl_insight.init(project=project, experiment_name="e")
        rl_insight.metric_count("steps")
        rl_insight.finish()
    assert len(server.sources()) == 2
    for source, project in zip(server.sources(), ("one", "two"), strict=True):
        assert server.series(source) == {PREFIX + "steps_total{}": 1.0}
        reports = [report for report in server.reports if report["source"]["id"] == source]
        assert [report["final"] for report in reports] == [False] * (len(reports) - 1) + [True]
        assert reports[-1]["run"]["project"] == project


def test_what_is_registered_between_finish_and_init_is_in_the_next_source(server: Stub) -> None:
    rl_insight.init(project="one", experiment_name="e")
    rl_insight.finish()
    rl_insight.update_prometheus_config(["10.0.0.1:8000"], "vllm")
    rl_insight.init(project="two", experiment_name="e")
    rl_insight.finish()
    assert server.reports[-1]["run"]["project"] == "two"
    assert ("vllm", "10.0.0.1:8000") in server.targets()


def test_rollout_server_with_many_requests_at_once(server: Stub) -> None:
    async def request(number: int) -> None:
        await asyncio.sleep(number % 7 / 1000)
        rl_insight.init() if number == 0 else None
        with traced("vllm_generate", "replica_3"):
            await asyncio.sleep(0.02)

    async def serve() -> None:
        await asyncio.gather(*(request(number) for number in range(500)))

    asyncio.run(serve())
    rl_insight.finish()
    [(lane_and_state, (seconds, intervals, ignored))] = server.totals().items()
    assert lane_and_state == ("replica_3", "vllm_generate")
    spans = server.spans()
    assert len(spans) == intervals
    assert sum(span["end_ns"] - span["start_ns"] for span in spans) == pytest.approx(seconds * 1e9, abs=1000)
    assert ignored == 0


def test_rank_workers_wrap_each_role(server: Stub) -> None:
    rl_insight.init()
    for role in ("actor_compute_log_prob", "ref_compute_log_prob", "actor_update"):
        with traced(role, "rank_17"):
            pass
    rl_insight.finish()
    spans = server.spans()
    assert [(span["name"], span["lane"], span["open"]) for span in spans] == [
        ("actor_compute_log_prob", "rank_17", False),
        ("ref_compute_log_prob", "rank_17", False),
        ("actor_update", "rank_17", False),
    ]
    assert [span["number"] for span in spans] == [1, 2, 3]
    assert all(earlier["end_ns"] <= later["start_ns"] for earlier, later in pairwise(spans))
