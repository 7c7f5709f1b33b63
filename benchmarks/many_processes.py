"""Many processes report to one collector through the real client. Prints JSON.

python -m benchmarks.many_processes [--processes 64] [--seconds 10]

Each calls a counter in bursts and enters a state of a lane of its own. At the end every counter in
/metrics must equal what was called.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from tests.collector.harness import CollectorProcess
from tests.end_to_end.training import Worker, labels

RUN = {"project": "bench", "experiment_name": "many"}
COUNTER = "rl_insight_monitor_calls_total"

SCRIPT = """
    rl_insight.init(project="bench", experiment_name="many")
    print("ready", flush=True)
    wait()
    end, calls = time.monotonic() + {seconds}, 0
    while time.monotonic() < end:
        with rl_insight.trace_state("actor_update", state_lane_id="rank_{number}"):
            for _ in range(500):
                rl_insight.metric_count("calls", 1, rank="{number}")
        calls += 500
        time.sleep(0.02)
    print(calls, flush=True)
    wait()
    rl_insight.finish()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(_measure(arguments.processes, arguments.seconds, Path(folder)), indent=1))


def _measure(processes: int, seconds: float, folder: Path) -> dict[str, Any]:
    with CollectorProcess(folder) as collector:
        assert collector.process is not None
        watched = psutil.Process(collector.process.pid)
        workers = [
            Worker(collector.url, SCRIPT.format(seconds=seconds, number=number), RL_INSIGHT_INTERVAL="2")
            for number in range(processes)
        ]
        try:
            for worker in workers:
                worker.line()
            cpu, begun = sum(watched.cpu_times()[:2]), time.monotonic()
            for worker in workers:
                worker.go_on()
            called = {str(number): float(worker.line()) for number, worker in enumerate(workers)}
            took = time.monotonic() - begun
            cpu = sum(watched.cpu_times()[:2]) - cpu
            for worker in workers:
                worker.go_on()
            for worker in workers:
                worker.end(60)
            shown = collector.samples(COUNTER)
            memory = watched.memory_info().rss
        finally:
            for worker in workers:
                worker.__exit__()
    return {
        "processes": processes,
        "calls": int(sum(called.values())),
        "calls_a_second": round(sum(called.values()) / took),
        "counter_difference": sum(
            abs(calls - shown.get((COUNTER, labels(RUN, rank=rank)), 0.0)) for rank, calls in called.items()
        ),
        "collector_cores": round(cpu / took, 3),
        "collector_mb": round(memory / 1e6, 1),
    }


if __name__ == "__main__":
    main()
