"""From a call in a training process to what Prometheus and Tempo get, through the real client and collector."""

import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collector.harness import CollectorProcess, wait_until
from tests.end_to_end.training import Worker, labels
from tests.support.otlp import OtlpReceiver
from tests.support.prometheus import PrometheusServer

RUN = {"project": "verl", "experiment_name": "ppo"}
OTHER = {"project": "verl", "experiment_name": "other"}
GAUGE = "rl_insight_monitor_critic_rewards_mean"

SCRAPE = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: rl-insight
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
- job_name: registered
  http_sd_configs: [{{url: "http://127.0.0.1:{port}/api/v1/prometheus/sd", refresh_interval: 1s}}]
"""


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


@pytest.fixture
def collector(tmp_path: Path, receiver: OtlpReceiver) -> Iterator[CollectorProcess]:
    folder = tmp_path / "collector"
    folder.mkdir()
    with CollectorProcess(folder, otlp_endpoint=receiver.endpoint) as running:
        yield running


@pytest.fixture
def prometheus(tmp_path: Path, collector: CollectorProcess) -> Iterator[PrometheusServer]:
    work = tmp_path / "prometheus"
    work.mkdir()
    with PrometheusServer(work / "tsdb", work, config=SCRAPE.format(port=collector.port)) as running:
        yield running


TRAINER = """
    rl_insight.init(project="verl", experiment_name="ppo", config={})
    for step in range(3):
        rl_insight.metric_gauge("training_global_step", float(step))
        rl_insight.metric_gauge("critic_rewards_mean", 0.5)
        rl_insight.metric_gauge("val-core_openai_gsm8k_acc_mean@1", 0.75)
        rl_insight.metric_count("samples", 64)
        rl_insight.metric_histogram("reward_seconds", 0.02)
    wait()
    rl_insight.finish()
"""


def test_a_gauge_set_in_a_trainer_is_read_from_prometheus(
    collector: CollectorProcess, prometheus: PrometheusServer
) -> None:
    def value(expr: str) -> str | None:
        found = prometheus.query(expr, time.time())
        return found[0]["value"][1] if found else None

    with Worker(collector.url, TRAINER) as trainer:
        matchers = '{project="verl",experiment_name="ppo"}'
        wait_until(lambda: value(f"{GAUGE}{matchers}") == "0.5")
        wait_until(lambda: value(f"rl_insight_monitor_val_core_openai_gsm8k_acc_mean_1{matchers}") == "0.75")
        wait_until(lambda: value(f"rl_insight_monitor_samples_total{matchers}") == "192")
        wait_until(lambda: value(f"rl_insight_monitor_reward_seconds_count{matchers}") == "3")
        trainer.go_on()
        assert trainer.end() == (0, "")


def test_a_state_becomes_a_span_with_its_times_and_attributes(
    collector: CollectorProcess, receiver: OtlpReceiver
) -> None:
    script = """
        rl_insight.init(project="verl", experiment_name="ppo")
        before = time.time_ns()
        with rl_insight.trace_state("vllm_generate", state_lane_id="replica_3", model="m"):
            time.sleep(0.3)
        after = time.time_ns()
        with rl_insight.trace_state("actor_update", state_lane_id="rank_17"):
            pass
        rl_insight.finish()
        print(before, after, os.getpid())
    """
    with Worker(collector.url, script) as worker:
        before, after, pid = (int(number) for number in worker.line().split())
    wait_until(lambda: len(receiver.unique()) == 2)
    spans = {span.name: span for span in receiver.unique().values()}
    span = spans["vllm_generate"]
    assert before <= span.start_ns < span.end_ns <= after
    assert span.end_ns - span.start_ns >= 300_000_000
    assert span.parent_span_id == ""
    assert span.resource["service.name"] == "rl_insight_monitor"
    expected = {
        **RUN,
        "state_name": "vllm_generate",
        "state_lane_id": "replica_3",
        "monitor.trace_segment": "state_interval",
        "model": "m",
    }
    assert expected.items() <= span.attributes.items()
    assert str(span.attributes["process_id"]) == str(pid)
    assert span.attributes["host"]
    assert span.attributes["interval_id"]
    assert spans["actor_update"].trace_id != span.trace_id


def test_an_open_state_shows_within_a_report_in_the_counters(collector: CollectorProcess) -> None:
    script = """
        rl_insight.init(project="verl", experiment_name="ppo")
        with rl_insight.trace_state("vllm_generate", state_lane_id="replica_0"):
            wait()
    """
    key = ("rl_insight_state_seconds_total", labels(RUN, state_lane_id="replica_0", state_name="vllm_generate"))
    with Worker(collector.url, script) as worker:
        wait_until(lambda: collector.samples().get(key, 0) > 0.2)
        first = collector.samples()[key]
        wait_until(lambda: collector.samples()[key] > first + 0.2)
        worker.go_on()
        assert worker.end() == (0, "")


def test_targets_get_the_runs_labels_also_when_its_name_is_known_only_afterwards(
    collector: CollectorProcess, prometheus: PrometheusServer
) -> None:
    """As verl does: the rollout manager registers in the trainer's process, before the trainer's init with names."""
    script = f"""
        rl_insight.init()
        rl_insight.update_prometheus_config(["127.0.0.1:{collector.port}"], "vllm", [{{"replica": 0}}])
        wait()
        rl_insight.init(project="verl", experiment_name="ppo", config={{}})
        wait()
    """

    def active() -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{prometheus.url}/api/v1/targets?state=active", timeout=10) as answer:
            targets = json.load(answer)["data"]["activeTargets"]
        return [each["labels"] for each in targets if each["labels"]["job"] == "vllm"]

    nothing = json.loads(collector.get("/api/v1/runs"))
    with Worker(collector.url, script, job="job-1") as worker:
        wait_until(lambda: json.loads(collector.get("/api/v1/runs")) != nothing)
        worker.go_on()
        wait_until(lambda: bool(active()) and active()[0].get("experiment_name") == "ppo")
        assert active()[0] == {
            **RUN,
            "job": "vllm",
            "replica": "0",
            "instance": f"127.0.0.1:{collector.port}",
        }
        wait_until(lambda: bool(prometheus.query('up{job="vllm",experiment_name="ppo"} == 1', time.time())))


def test_workers_belong_to_the_run_of_their_job_and_two_jobs_never_mix(collector: CollectorProcess) -> None:
    trainer = """
        rl_insight.init(project="verl", experiment_name="{name}")
        rl_insight.metric_gauge("critic_rewards_mean", {value})
        wait()
    """
    rank = """
        rl_insight.init()
        with rl_insight.trace_state("actor_update", state_lane_id="rank_0"):
            rl_insight.metric_count("updates", {amount})
        wait()
    """
    with (
        Worker(collector.url, rank.format(amount=1), job="job-1"),
        Worker(collector.url, rank.format(amount=10), job="job-2"),
    ):
        wait_until(lambda: "rl_insight_collector" in collector.get("/metrics"))
        with (
            Worker(collector.url, trainer.format(name="ppo", value=0.25), job="job-1"),
            Worker(collector.url, trainer.format(name="other", value=0.75), job="job-2"),
        ):
            expected = {
                (GAUGE, labels(RUN)): 0.25,
                (GAUGE, labels(OTHER)): 0.75,
                ("rl_insight_monitor_updates_total", labels(RUN)): 1,
                ("rl_insight_monitor_updates_total", labels(OTHER)): 10,
            }
            wait_until(lambda: expected.items() <= collector.samples().items())
            assert collector.samples("rl_insight_monitor") == expected


def test_nothing_is_lost_when_the_collector_is_killed_again_and_again(
    collector: CollectorProcess, receiver: OtlpReceiver
) -> None:
    """Totals and spans of several processes, some of which end or die while the collector is away."""
    worker = """
        rl_insight.init(project="verl", experiment_name="ppo")
        calls = spans = 0
        done = threading.Event()
        threading.Thread(target=lambda: (wait(), done.set()), daemon=True).start()
        while not done.is_set():
            rl_insight.metric_count("calls", 1, worker={name!r})
            calls += 1
            if calls % 100 == 0:
                with rl_insight.trace_state("actor_update", state_lane_id={name!r}):
                    pass
                spans += 1
                time.sleep(0.01)
        print(calls, spans, flush=True)
        wait()
        rl_insight.finish()
    """
    names = ["rank_0", "rank_1", "rank_2"]
    workers = [Worker(collector.url, worker.format(name=name)) for name in names]
    try:
        for _ in range(5):
            time.sleep(0.5)
            collector.kill()
            time.sleep(0.2)
            collector.start()
        for each in workers:
            each.go_on()
        made = {name: [int(n) for n in each.line().split()] for name, each in zip(names, workers, strict=True)}
        key = "rl_insight_monitor_calls_total"
        totals = {(key, labels(RUN, worker=name)): float(calls) for name, (calls, _) in made.items()}
        wait_until(lambda: totals.items() <= collector.samples(key).items())
        for each in workers:
            each.go_on()
            assert each.end()[0] == 0
        collector.kill()
        collector.start()
        assert collector.samples(key) == totals
        count = sum(spans for _, spans in made.values())
        wait_until(lambda: len(receiver.unique()) == count)
    finally:
        for each in workers:
            each.__exit__()


def test_prometheus_may_go_and_come_back(collector: CollectorProcess, tmp_path: Path) -> None:
    """What was counted while nobody scraped is there at the next scrape."""
    script = """
        rl_insight.init(project="verl", experiment_name="ppo")
        for _ in range(3):
            rl_insight.metric_count("samples", 10)
            wait()
    """
    expr = 'rl_insight_monitor_samples_total{experiment_name="ppo"}'

    def scraped(value: str) -> None:
        with PrometheusServer(tmp_path / "tsdb", tmp_path, config=SCRAPE.format(port=collector.port)) as server:
            wait_until(lambda: [each["value"][1] for each in server.query(expr, time.time())] == [value])

    with Worker(collector.url, script) as worker:
        scraped("10")
        worker.go_on()
        wait_until(lambda: collector.samples()["rl_insight_monitor_samples_total", labels(RUN)] == 20)
        worker.go_on()
        scraped("30")


def test_a_trainer_without_a_server_trains_on(tmp_path: Path) -> None:
    script = """
        rl_insight.init(project="verl", experiment_name="ppo")
        for step in range(1000):
            rl_insight.metric_gauge("critic_rewards_mean", 0.5)
            with rl_insight.trace_state("actor_update", state_lane_id="rank_0"):
                pass
        rl_insight.finish()
        print("trained")
    """
    with Worker("http://127.0.0.1:1", script) as worker:
        assert worker.line() == "trained"
        code, errors = worker.end()
    assert code == 0
    assert "Traceback" not in errors


def test_a_token_is_sent_and_asked_for(tmp_path: Path) -> None:
    script = """
        rl_insight.init(project="verl", experiment_name="ppo")
        rl_insight.metric_gauge("critic_rewards_mean", 0.5)
        wait()
    """
    with CollectorProcess(tmp_path, token="secret") as guarded:
        with Worker(guarded.url, script, RL_INSIGHT_TOKEN="secret"):
            wait_until(lambda: guarded.samples().get((GAUGE, labels(RUN))) == 0.5)
        with Worker(guarded.url, script.replace("ppo", "other")) as stranger:
            time.sleep(1)
            assert (GAUGE, labels(OTHER)) not in guarded.samples()
            stranger.go_on()
            _, errors = stranger.end()
    assert "token" in errors
    assert "secret" not in errors
    assert "secret" not in guarded.log.read_text()
