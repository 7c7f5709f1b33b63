"""What 1,000 processes that report 50,000 series cost the collector. Prints JSON.

python -m benchmarks.collector_load [--sources 1000] [--seconds 30] [--interval 2]

Every report carries all of its source's series with new values and one span, which is more than a
training run changes. The load comes from this process, so that the collector's own CPU stands apart.
"""

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.otlp import OtlpReceiver

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
GAUGES, COUNTERS, STATES = 20, 6, 2
LINES_OF_SOURCE = GAUGES + COUNTERS + len(BUCKETS) + 3 + 3 * STATES + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--interval", type=float, default=2.0)
    parser.add_argument("--synchronous", choices=("full", "normal"), default="full")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, OtlpReceiver() as receiver:
        print(json.dumps(_measure(arguments, Path(folder), receiver), indent=1))


def _measure(arguments: argparse.Namespace, folder: Path, receiver: OtlpReceiver) -> dict[str, Any]:
    rounds = max(2, int(arguments.seconds / arguments.interval))
    bodies = [[_body(source, number) for number in range(1, rounds + 1)] for source in range(arguments.sources)]
    process, port = _start(folder, arguments.synchronous, receiver.endpoint)
    watched = psutil.Process(process.pid)
    try:
        empty = watched.memory_info().rss
        first, _ = asyncio.run(_load(port, [of_one[:1] for of_one in bodies], arguments.interval))
        cpu, begun = watched.cpu_times(), time.monotonic()
        latencies, scrapes = asyncio.run(_load(port, [of_one[1:] for of_one in bodies], arguments.interval))
        wall, spent = time.monotonic() - begun, watched.cpu_times()
        memory = watched.memory_info().rss
        page = _scrape(port)[1]
        quiet = [_scrape(port)[0] for _ in range(5)]
        openmetrics = [_scrape(port, "application/openmetrics-text; version=1.0.0")[0] for _ in range(5)]
        commit = _average(page, "rl_insight_collector_commit_seconds")
        batch = _average(page, "rl_insight_collector_batch_reports")
        writing = _average(_scrape(port)[1], "rl_insight_collector_scrape_seconds")
    finally:
        process.terminate()
        process.wait()
    return {
        "sources": arguments.sources,
        "series": sum(1 for line in page.splitlines() if line and not line.startswith(("#", "rl_insight_collector_"))),
        "reports_per_second": round(len(latencies) / wall, 1),
        "report_bytes_gzip": round(statistics.mean(len(body) for of_one in bodies for body in of_one)),
        "cpu_share_of_one_core": round((spent.user + spent.system - cpu.user - cpu.system) / wall, 3),
        "memory_mb": round(memory / 1e6, 1),
        "memory_mb_before": round(empty / 1e6, 1),
        "answer_ms": _milliseconds(latencies),
        "answer_ms_of_first_reports": _milliseconds(first),
        "commit_ms_mean": round(1000 * commit, 2),
        "reports_per_transaction_mean": round(batch, 1),
        "scrape_ms_under_load": _milliseconds(scrapes),
        "scrape_ms_quiet_median": round(1000 * statistics.median(quiet), 1),
        "scrape_ms_openmetrics_median": round(1000 * statistics.median(openmetrics), 1),
        "scrape_ms_in_collector_mean": round(1000 * writing, 1),
        "prometheus_client_writer_ms": round(1000 * _prometheus_client(page), 1),
        "spans_received": len(receiver.unique()),
        "page_mb": round(len(page) / 1e6, 2),
    }


def _start(folder: Path, synchronous: str, endpoint: str) -> tuple[subprocess.Popen[bytes], int]:
    config = folder / "collector.yaml"
    settings = {"synchronous": synchronous, "otlp_endpoint": endpoint, "spans_per_second": 1e5, "log_level": "warning"}
    config.write_text(json.dumps(settings))
    port = 18971
    process = subprocess.Popen(
        [sys.executable, "-m", "collector", "--port", str(port), "--data-dir", str(folder), "--config", str(config)],
        cwd=Path(__file__).parents[1],
    )
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1):
                return process, port
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the collector did not start")


def _body(source: int, number: int) -> bytes:
    labels = {"rank": f"rank_{source}", "host": f"node-{source // 8:03d}.cluster"}
    now = 1_800_000_000_000_000_000 + number * 2_000_000_000
    gauges = [_family(f"gauge_{one}", "gauge", [[labels, number + source / 7 + one, now]]) for one in range(GAUGES)]
    counters = [_family(f"work_{one}_total", "counter", [[labels, number * (one + 1.5)]]) for one in range(COUNTERS)]
    counts = [number * (place + 1) for place in range(len(BUCKETS) + 1)]
    histogram = {**_family("wait_seconds", "histogram", [[labels, counts, number * 3.7]]), "buckets": BUCKETS}
    lane = f"rank_{source}"
    states = [[lane, f"state_{one}", number * (one + 0.37), number, 0] for one in range(STATES)]
    report = {
        "version": 1,
        "source": {"id": f"{source:032x}", "host": f"node-{source // 8:03d}", "pid": source, "start_ns": 1},
        "sequence": number,
        "sent_ns": now,
        "job": "job-1",
        "run": {"project": "benchmark", "experiment_name": "load"} if source == 0 else None,
        "full": number == 1,
        "final": False,
        "metrics": [*gauges, *counters, histogram],
        "states": {"totals": states, "open": [[lane, "state_0", "1", now]]},
        "spans": [_span(number, lane, now)],
        "targets": [],
        "dropped": {"series_limit": 0},
    }
    return gzip.compress(json.dumps(report).encode(), 6)


def _family(name: str, kind: str, series: list[Any]) -> dict[str, Any]:
    return {"name": f"rl_insight_monitor_{name}", "type": kind, "help": "A series of the load.", "series": series}


def _span(number: int, lane: str, now: int) -> dict[str, Any]:
    times = {"start_ns": now - 2_000_000_000, "end_ns": now}
    state = {"lane": lane, "state": "state_0", "interval_id": str(number), "open": False}
    return {"number": number, "kind": "state", "name": "state_0", **times, "attributes": {}, **state}


async def _load(port: int, bodies: list[list[bytes]], interval: float) -> tuple[list[float], list[float]]:
    latencies: list[float] = []
    scrapes: list[float] = []
    step = interval / len(bodies)
    sources = [_source(port, of_one, place * step, interval, latencies) for place, of_one in enumerate(bodies)]
    scraping = asyncio.create_task(_scraper(port, scrapes))
    await asyncio.gather(*sources)
    scraping.cancel()
    return latencies, scrapes


async def _source(port: int, bodies: list[bytes], delay: float, interval: float, latencies: list[float]) -> None:
    begun = time.monotonic() + delay
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\n"
    for number, body in enumerate(bodies):
        await asyncio.sleep(max(0.0, begun + number * interval - time.monotonic()))
        sent = time.monotonic()
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"}")
        latencies.append(time.monotonic() - sent)
        if b" 200 " not in answer:
            raise RuntimeError(answer.decode())
    writer.close()


async def _scraper(port: int, scrapes: list[float]) -> None:
    while True:
        await asyncio.sleep(3.0)
        scrapes.append((await asyncio.to_thread(_scrape, port))[0])


def _scrape(port: int, accept: str = "text/plain") -> tuple[float, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    begun = time.monotonic()
    with urllib.request.urlopen(request, timeout=60) as response:
        page = response.read()
    return time.monotonic() - begun, page.decode()


def _prometheus_client(page: str) -> float:
    """Seconds that prometheus_client's writer takes for the same series."""
    families = list(text_string_to_metric_families(page))

    class _Same:
        def collect(self) -> Any:
            return families

    registry = CollectorRegistry()
    registry.register(_Same())  # type: ignore[arg-type]
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        generate_latest(registry)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _average(page: str, name: str) -> float:
    found = {line.split()[0]: float(line.split()[1]) for line in page.splitlines() if line.startswith(f"{name}_")}
    return found[f"{name}_sum"] / max(1.0, found[f"{name}_count"])


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds) or [0.0]
    places = {"median": 0.5, "p99": 0.99, "max": 1.0}
    return {name: round(1000 * ordered[min(len(ordered) - 1, int(q * len(ordered)))], 2) for name, q in places.items()}


if __name__ == "__main__":
    main()
