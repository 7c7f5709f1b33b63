"""An hour of a believable stack for tests and screenshots: every series that dashboards may ask for.

`python -m tests.support.history DIR` writes DIR/history.om, which `promtool tsdb
create-blocks-from openmetrics` turns into Prometheus's own blocks (`--load` does so), and
DIR/spans.jsonl, the same runs' state intervals. Nothing depends on the clock unless
`--end now` moves the hour to now.
"""

import argparse
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import history_hardware as hardware
from . import history_trainer as trainer
from .history_engines import engine_load, sglang, vllm
from .history_schedule import LENGTH, Schedule, busy_seconds, separate_async, sync
from .openmetrics import Exposition
from .prometheus import binary_path
from .series import Load

END = 1780314900
"""2026-06-01T11:55:00Z: the hour before it lies in one two-hour block of Prometheus."""
START = END - int(LENGTH)
STEP = 15
COLLECTOR = {"job": "rl-insight", "instance": "127.0.0.1:18080"}
RESTART = (1800, 1860)
"""When, in seconds since the start, a replica of the first run is not scraped and begins its totals anew."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the history. `host` numbers its machines, `tags` chooses its trainer scalars."""

    project: str
    experiment_name: str
    engine: str
    host: int
    tags: tuple[str, ...]
    replicas: int = 4
    ranks: int = 8
    old: bool = False
    asynchronous: bool = False
    two_engines: int | None = None
    """The replica that has two engines, or two data-parallel ranks."""
    slow: int | None = None
    restarts: int | None = None
    scale: float = 1.0

    @property
    def labels(self) -> dict[str, str]:
        return {"project": self.project, "experiment_name": self.experiment_name}

    @property
    def selector(self) -> str:
        """The run's labels as PromQL matchers, without braces."""
        return f'project="{self.project}",experiment_name="{self.experiment_name}"'

    def target(self, replica: int) -> dict[str, str]:
        instance = f"10.0.{self.host}.{10 + replica}:8000"
        return {**self.labels, "replica": str(replica), "job": self.engine, "instance": instance}

    def schedule(self) -> Schedule:
        state = f"{self.engine}_generate"
        if self.asynchronous:
            return separate_async(seed=self.host, generate=state, replicas=self.replicas, ranks=self.ranks)
        absent = [] if self.restarts is None else [(self.restarts, *RESTART)]
        return sync(
            seed=self.host,
            generate=state,
            replicas=self.replicas,
            ranks=self.ranks,
            slow=() if self.slow is None else (self.slow,),
            absent=absent,
        )


VLLM_SYNC = Run(
    "verl",
    "qwen2.5-7b_sync",
    "vllm",
    1,
    ("all", "sync", "filter", "custom"),
    two_engines=1,
    slow=3,
    restarts=2,
)
SGLANG_SYNC = Run("verl", "sglang_sync", "sglang", 2, ("all", "sync", "critic", "agent"), two_engines=1)
ASYNC = Run(
    "verl-async",
    "separate_async",
    "vllm",
    3,
    ("all", "async", "agent", "spec"),
    replicas=6,
    asynchronous=True,
    two_engines=2,
)
OLD_VLLM = Run("legacy", "old_vllm", "vllm", 4, ("all", "sync", "distill"), replicas=2, ranks=2, old=True)
OLD_SGLANG = Run("legacy", "old_sglang", "sglang", 5, ("all", "sync", "moe", "profile"), replicas=2, ranks=2, old=True)
NAMESAKE = Run("other", VLLM_SYNC.experiment_name, "vllm", 6, ("all", "sync"), replicas=2, ranks=2, scale=0.4)
"""Another project's run with the first run's experiment name: what blends them is a missing filter."""
DEMO = {"project": "demo", "experiment_name": "quick_start"}
"""The labels of what the quick start sends; it has no engine and is no Run."""
RUNS = (VLLM_SYNC, SGLANG_SYNC, ASYNC, OLD_VLLM, OLD_SGLANG, NAMESAKE)


def build(end: int = END) -> Exposition:
    """Every series of the history that ends at the given time."""
    start = end - int(LENGTH)
    out = Exposition(range(start, end + 1, STEP))
    for run in RUNS:
        schedule = run.schedule()
        trainer.scalars(
            out,
            {**run.labels, **COLLECTOR},
            schedule,
            tags=run.tags,
            seed=run.host,
            scale=run.scale,
            mismatch=run.asynchronous,
        )
        trainer.states(out, {**run.labels, **COLLECTOR}, schedule)
        for replica in range(run.replicas):
            _engines(out, run, replica, schedule)
    _quick_start(out)
    _services(out)
    _alerts(out)
    return out


def spans(end: int = END) -> Iterator[dict[str, object]]:
    """The state intervals of every run, as a timeline draws them."""
    start_ns = (end - int(LENGTH)) * 10**9
    for run in RUNS:
        for number, interval in enumerate(run.schedule().intervals):
            yield {
                **run.labels,
                "state_lane_id": interval.lane,
                "state_name": interval.state,
                "start_time_ns": start_ns + round(interval.start * 1000) * 10**6,
                "duration_ns": round((interval.end - interval.start) * 1000) * 10**6,
                "interval_id": f"{run.host}-{number}",
                "open": interval.open,
            }


def write(directory: Path, end: int = END) -> Exposition:
    """Writes history.om and spans.jsonl."""
    directory.mkdir(parents=True, exist_ok=True)
    history = build(end)
    history.write(directory / "history.om")
    with (directory / "spans.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(span) + "\n" for span in spans(end))
    return history


def load(directory: Path) -> Path:
    """Backfills DIR/history.om into DIR/tsdb, a Prometheus data directory, in place of what was there."""
    tsdb = directory / "tsdb"
    shutil.rmtree(tsdb, ignore_errors=True)
    command = [binary_path("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--quiet"]
    subprocess.run([*command, str(directory / "history.om"), str(tsdb)], check=True)
    return tsdb


def _engines(out: Exposition, run: Run, replica: int, schedule: Schedule) -> None:
    times = [time - out.times[0] for time in out.times]
    busy = busy_seconds(schedule.lane(f"replica_{replica}"), times)
    parts = 2 if replica == run.two_engines else 1

    def part(share: float) -> Load:
        return engine_load(
            times,
            busy,
            tokens_per_second=2600.0 * run.scale,
            slowdown=2.0 if replica == run.slow else 1.0,
            restart=RESTART if replica == run.restarts else None,
            share=share,
        )

    loads = [part(1 / parts) for _ in range(parts)]
    target = run.target(replica)
    out.gauge("up", target, [0.0 if value is None else 1.0 for value in loads[0]["one"]])
    rare = replica == 0
    if run.engine == "sglang":
        sglang(out, target, loads, part(1.0), old=run.old, rare=rare)
        return
    for engine, engine_part in enumerate(loads):
        # The older run's second replica is of the V0 engine, which had no label `engine`.
        name = None if run.old and replica == 1 else str(engine)
        vllm(out, target, engine_part, engine=name, old=run.old, rare=rare)


def _quick_start(out: Exposition) -> None:
    """A counter, a gauge, a histogram and a lane, as the quick start sends them."""
    target = {**DEMO, **COLLECTOR}
    seconds = [float(time - out.times[0]) for time in out.times]
    out.counter("rl_insight_monitor_demo_requests_total", target, [2 * second for second in seconds])
    out.gauge("rl_insight_monitor_demo_temperature", target, [20 + second % 300 / 60 for second in seconds])
    shares = {0.005: 0.1, 0.05: 0.6, 0.5: 0.95, 5.0: 1.0}
    out.histogram("rl_insight_monitor_demo_latency_seconds", target, [2 * second for second in seconds], 0.08, shares)
    for state, share in (("generate", 0.6), ("update", 0.3)):
        labels = {**target, "state_lane_id": "demo_lane", "state_name": state}
        out.counter("rl_insight_state_seconds_total", labels, [share * second for second in seconds])


def _services(out: Exposition) -> None:
    """TransferQueue, of which one target is down, the collector, and machines that know no run."""
    for run, samples_per_second in ((VLLM_SYNC, 8.0), (ASYNC, 11.0)):
        target = _transfer_queue(run)
        hardware.transfer_queue(out, target, samples_per_second)
        _up(out, target, 1.0)
    _up(out, _transfer_queue(SGLANG_SYNC), 0.0)
    _up(out, COLLECTOR, 1.0)
    on_gpus, on_npus = VLLM_SYNC.schedule(), SGLANG_SYNC.schedule()
    for number in range(2):
        host = f"gpu-node-{number}"
        devices = [_device_seconds(out, on_gpus, rank) for rank in range(4 * number, 4 * number + 4)]
        for index, busy in enumerate(devices):
            hardware.gpu(out, host, index, busy)
        hardware.node(out, f"{host}:9100", devices[0])
        _up(out, {"job": "dcgm-exporter", "instance": f"{host}:9400"}, 1.0)
        _up(out, {"job": "node-exporter", "instance": f"{host}:9100"}, 1.0)
    for index in range(4):
        hardware.npu(out, "npu-node-0", index, _device_seconds(out, on_npus, index))
    _up(out, {"job": "npu-exporter", "instance": "npu-node-0:8082"}, 1.0)


def _transfer_queue(run: Run) -> dict[str, str]:
    return {**run.labels, "job": "transfer_queue", "instance": f"10.0.{run.host}.5:9410"}


def _up(out: Exposition, target: dict[str, str], value: float) -> None:
    out.gauge("up", target, [value for _ in out.times])


def _device_seconds(out: Exposition, schedule: Schedule, rank: int) -> list[float]:
    """Seconds a device has worked, which a rank and half of a replica take turns on."""
    times = [float(time - out.times[0]) for time in out.times]
    lanes = (schedule.lane(f"rank_{rank}"), schedule.lane(f"replica_{rank // 2}"))
    return [sum(seconds) for seconds in zip(*(busy_seconds(lane, times) for lane in lanes), strict=True)]


def _alerts(out: Exposition) -> None:
    """One alert that fires in the asynchronous run through the history's last quarter."""
    labels = {"alertname": "RolloutProbsDiffHigh", "alertstate": "firing", "severity": "critical", **ASYNC.labels}
    since = out.times[0] + 3 * LENGTH / 4
    out.gauge("ALERTS", labels, [1.0 if time >= since else None for time in out.times])


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an hour of a believable stack's metrics.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--end", default=str(END), help="epoch seconds, or 'now'; default %(default)s")
    parser.add_argument("--load", action="store_true", help="also backfill a Prometheus data directory, DIR/tsdb")
    options = parser.parse_args()
    end = int(time.time()) // STEP * STEP if options.end == "now" else int(options.end)
    history = write(options.directory, end)
    print(f"{history.series} series, {history.samples} samples in {options.directory / 'history.om'}")
    if options.load:
        print(f"loaded into {load(options.directory)}")


if __name__ == "__main__":
    main()
