"""A real Prometheus scrapes the collector, and finds targets by file_sd and http_sd."""

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.prometheus import PrometheusServer

from .harness import CollectorProcess, wait_until
from .reports import OTHER_RUN, RUN, SECOND, counter, gauge, histogram, report, states, targets

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: rl-insight
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
- job_name: by-file
  file_sd_configs: [{{files: ["{file}"], refresh_interval: 1s}}]
- job_name: by-http
  http_sd_configs: [{{url: "http://127.0.0.1:{port}/api/v1/prometheus/sd", refresh_interval: 1s}}]
  relabel_configs: [{{target_label: found, replacement: http}}]
"""


def value(server: PrometheusServer, expr: str) -> float | None:
    result = server.query(expr, time.time())
    return float(result[0]["value"][1]) if result else None


def active(server: PrometheusServer) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{server.url}/api/v1/targets?state=active", timeout=10) as response:
        found: list[dict[str, Any]] = json.load(response)["data"]["activeTargets"]
    return [target["labels"] for target in found]


def test_values_states_and_targets_reach_a_real_prometheus(tmp_path: Path) -> None:
    with CollectorProcess(tmp_path) as collector:
        config = CONFIG.format(port=collector.port, file=tmp_path / "targets.json")
        now = time.time_ns()
        replica = f"127.0.0.1:{collector.port}"
        content = report(
            2, states=states(["replica_0", "vllm_generate", 3.5, 1, 0]), targets=[targets(replica, replica="0")]
        )
        assert collector.send(content)[0] == 200
        collector.send(report(3, job="b", run=OTHER_RUN, metrics=[gauge("rl_insight_monitor_reward", 9, now)]))
        with PrometheusServer(tmp_path / "tsdb", tmp_path, config) as server:
            metrics = [
                gauge("rl_insight_monitor_reward", 0.25, now, who='a"\\b'),
                counter("rl_insight_monitor_steps_total", 7),
                histogram("rl_insight_monitor_wait", [1, 2, 3], -4.5),
            ]
            collector.send(report(1, run=RUN, metrics=metrics, sent_ns=now + SECOND))
            of_run = '{job="rl-insight",project="math",experiment_name="first"}'
            wait_until(lambda: value(server, f"rl_insight_monitor_reward{of_run}") == 0.25)
            assert value(server, "rl_insight_monitor_reward{job='rl-insight',experiment_name='second'}") == 9
            assert value(server, f"rl_insight_monitor_steps_total{of_run}") == 7
            assert value(server, f"rl_insight_monitor_wait_sum{of_run}") == -4.5
            assert value(server, f"histogram_quantile(0.5, rl_insight_monitor_wait_bucket{of_run})") == 2
            assert value(server, f"rl_insight_state_seconds_total{of_run}") == 3.5
            assert value(server, 'up{job="rl-insight"}') == 1
            expected = {"job": "vllm", "instance": replica, "replica": "0", **RUN}
            wait_until(lambda: expected in active(server) and {**expected, "found": "http"} in active(server))
            wait_until(lambda: value(server, 'up{job="vllm",found="",project="math"}') == 1)
