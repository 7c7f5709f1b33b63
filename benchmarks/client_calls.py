"""What a call of the training API costs, and what importing the client does.

Prints JSON: nanoseconds of one call (median and 99th percentile, without the two clock readings
around it), calls a second in a bare loop, milliseconds and MB of the import. The client reports
to a server in a process of its own meanwhile. Where RLI_BENCH_OLD_PYTHON names a Python that has
rl-insight 0.3.0 and ray, the same work goes through them too.

    python -m benchmarks.client_calls [--calls 200000] [--seconds 5]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

OLD_PYTHON = "RLI_BENCH_OLD_PYTHON"
ROOT = Path(__file__).resolve().parents[1]
IMPORTS = 15
INTERVALS = 9_000
NOTHING = "nothing"


class Collector(BaseHTTPRequestHandler):
    """Acknowledges whatever comes, to the new client and the old."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        port = self.server.server_address[1]
        self._answer({"status": "ok", "otlp_port": port, "prometheus_port": None, "grafana_port": None})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer({"status": "ok", "acknowledged": 2**62, "full": False})

    def _answer(self, content: dict[str, object]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(server.server_address[1], flush=True)
    server.serve_forever()


@contextmanager
def collector() -> Iterator[str]:
    """The URL of a running `Collector`."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.communicate()


def calls() -> dict[str, Callable[[], object]]:
    """What is measured, by name; entering and leaving a state counts as one."""
    from rl_insight import metric_count, metric_gauge, metric_histogram, trace_state

    def join() -> None:
        with trace_state("update", state_lane_id="held"):
            pass

    def join_with_labels() -> None:
        with trace_state("update", state_lane_id="held", role="actor", rank="17", phase="update"):
            pass

    def interval() -> None:
        with trace_state("update", state_lane_id="free"):
            pass

    def interval_with_labels() -> None:
        with trace_state("update", state_lane_id="free", role="actor", rank="17", phase="update"):
            pass

    return {
        NOTHING: lambda: None,
        "gauge": lambda: metric_gauge("bench_gauge", 1.5),
        "gauge, 3 labels": lambda: metric_gauge("bench_gauge_of", 1.5, role="actor", rank="17", phase="update"),
        "counter": lambda: metric_count("bench_counter", 1.0),
        "counter, 3 labels": lambda: metric_count("bench_counter_of", 1.0, role="actor", rank="17", phase="update"),
        "histogram": lambda: metric_histogram("bench_seconds", 0.3),
        "histogram, 3 labels": lambda: metric_histogram("bench_seconds_of", 0.3, role="actor", rank="17", phase="up"),
        "trace_state that joins": join,
        "trace_state that joins, 3 labels": join_with_labels,
        "trace_state": interval,
        "trace_state, 3 labels": interval_with_labels,
    }


def cost(call: Callable[[], object], number: int) -> list[int]:
    """Nanoseconds of each of so many calls, sorted, with what reading the clock takes."""
    clock = time.perf_counter_ns
    times = []
    for _ in range(number):
        begin = clock()
        call()
        times.append(clock() - begin)
    return sorted(times)


def rate(seconds: float) -> float:
    """Gauge calls a second of one thread in a bare loop, each with another of a step's hundred names."""
    from rl_insight import metric_gauge

    names = [f"bench_scalar_{number}" for number in range(100)]
    done, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        for name in names:
            metric_gauge(name, 1.5)
        done += len(names)
    return done / elapsed


def measure(number: int, seconds: float) -> dict[str, object]:
    """Runs in a process that has one client or the other, which `RL_INSIGHT_SERVER_URL` tells its server."""
    import rl_insight

    if rl_insight.__version__.startswith("0."):
        start_ray()
    rl_insight.init(project="bench", experiment_name="client_calls", config={})
    costs: dict[str, dict[str, int]] = {}
    with rl_insight.trace_state("update", state_lane_id="held"):
        for name, call in calls().items():
            # Of intervals no more than a client keeps, and time to send them: faster is not what happens.
            some = min(number, INTERVALS) if name.startswith("trace_state") else number
            times = cost(call, some)
            costs[name] = {"median_ns": times[some // 2], "p99_ns": times[some * 99 // 100]}
            time.sleep(3.0 if some < number else 0.0)
        calls_a_second = rate(seconds)
    rl_insight.finish()
    clock = costs.pop(NOTHING)["median_ns"]
    return {
        "version": rl_insight.__version__,
        "python": sys.version.split()[0],
        "calls": number,
        "call": {name: {key: value - clock for key, value in found.items()} for name, found in costs.items()},
        "calls_a_second": round(calls_a_second),
    }


def start_ray() -> None:
    """The old client reports through an actor of Ray's."""
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")


IMPORT = """
import os, sys, time
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
memory, cpu = [resident()], [time.process_time()]
import rl_insight
memory.append(resident()); cpu.append(time.process_time())
rl_insight.init()
memory.append(resident()); cpu.append(time.process_time())
import json
print(json.dumps({
    "cpu_ms": (cpu[1] - cpu[0]) * 1000, "memory_mb": memory[1] - memory[0],
    "init_cpu_ms": (cpu[2] - cpu[1]) * 1000, "init_memory_mb": memory[2] - memory[1],
}))
"""


def importing(url: str) -> dict[str, float]:
    """What `import rl_insight` adds to a bare interpreter, and `init` to that: CPU milliseconds and MB, at best."""
    command = (sys.executable, "-c", IMPORT)
    found = [json.loads(output(command, ROOT, RL_INSIGHT_SERVER_URL=url)) for _ in range(IMPORTS)]
    best = {key: round(min(one[key] for one in found), 2) for key in found[0]}
    return best | {"median_cpu_ms": round(statistics.median(one["cpu_ms"] for one in found), 2)}


def output(command: Sequence[str], path: Path | None, **environment: str) -> str:
    """The JSON that a command prints, with the client of the tree `path` if given."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RL_INSIGHT")} | environment
    variables["PYTHONPATH"] = str(path) if path else ""
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    lines = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(line for line in lines if line.startswith("{"))  # Ray prints too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200_000, help="calls of each kind")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of the bare loop")
    for mode in ("--serve", "--measure"):
        parser.add_argument(mode, action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    elif arguments.measure:
        print(json.dumps(measure(arguments.calls, arguments.seconds)))
    else:
        print(json.dumps(compare(arguments.calls, arguments.seconds), indent=2))


def compare(number: int, seconds: float) -> dict[str, object]:
    """This tree's client, and the old one where there is one."""
    old_python = os.environ.get(OLD_PYTHON)
    result: dict[str, object] = {
        "benchmark": "client_calls",
        "aim": {"median_ns": 1000, "median_3_labels_ns": 2000, "p99_ns": 5000, "calls_a_second": 1_500_000},
    }
    work = ("--calls", str(number), "--seconds", str(seconds))
    with collector() as url:
        result["import"] = importing(url) | {"aim_ms": 30, "aim_mb": 5}
        new = (sys.executable, __file__, "--measure", *work)
        result["new"] = json.loads(output(new, ROOT, RL_INSIGHT_SERVER_URL=url))
        if old_python:
            # The old client takes a thousand times as long, and wakes actors of Ray to do it.
            old = (old_python, __file__, "--measure", "--calls", str(max(1, number // 40)), "--seconds", str(seconds))
            result["old"] = json.loads(output(old, None, RL_INSIGHT_SERVER_URL=url))
        else:
            result["old"] = f"not measured: {OLD_PYTHON} names no Python with rl-insight 0.3.0 and ray"
    return result


if __name__ == "__main__":
    main()
