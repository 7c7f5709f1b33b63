"""Keeps the OTLP endpoint away under load, then brings it back, and counts what was lost. Prints JSON.

python -m benchmarks.otlp_outage [--seconds 60] [--processes 3]

Every span that was accepted must arrive, in the order in which it was accepted, once the endpoint
is back; the reports of the clients must be answered all the while.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kill_collector import received
from tests.collector.clients import Load
from tests.collector.harness import CollectorProcess, free_port
from tests.support.otlp import OtlpReceiver

SPANS_PER_SECOND = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(_measure(arguments, Path(folder)), indent=1))


def _measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    port = free_port()
    settings = {"otlp_endpoint": f"http://127.0.0.1:{port}", "spans_per_second": SPANS_PER_SECOND}
    with CollectorProcess(folder, **settings) as collector:
        with Load(collector.url, arguments.processes) as load:
            time.sleep(arguments.seconds)
            called = load.finish()
        made = sum(spans for _, spans in called.values())
        journal = (folder / "collector.db").stat().st_size
        begun = time.monotonic()
        with OtlpReceiver(port) as receiver:
            arrived = received(receiver, made, seconds=120 + made / SPANS_PER_SECOND)
            drained = time.monotonic() - begun
            starts = _of_each_process(receiver)
    return {
        "outage_s": arguments.seconds,
        "reports_acknowledged_meanwhile": int(sum(total for total, _ in called.values())),
        "spans_made": made,
        "spans_missing": made - arrived,
        "processes_out_of_order": sum(each != sorted(each) for each in starts),
        "journal_mb": round(journal / 1e6, 1),
        "seconds_to_drain": round(drained, 1),
    }


def _of_each_process(receiver: OtlpReceiver) -> list[list[int]]:
    """The start times of each process's spans in the order in which they came."""
    starts: dict[Any, list[int]] = {}
    for span in receiver.spans:
        starts.setdefault(span.attributes["process_id"], []).append(span.start_ns)
    return list(starts.values())


if __name__ == "__main__":
    main()
