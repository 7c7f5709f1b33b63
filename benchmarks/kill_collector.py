"""Kills the collector under load, again and again, and counts what was lost. Prints JSON.

python -m benchmarks.kill_collector [--kills 20] [--processes 4]

Several processes report a counter and two spans a report as fast as they can, each report sent
again until it is acknowledged. At the end every counter in /metrics must equal what was called,
and every span must have reached the OTLP receiver.
"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.collector.clients import Load
from tests.collector.harness import CollectorProcess
from tests.support.otlp import OtlpReceiver


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--processes", type=int, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(_measure(arguments, Path(folder)), indent=1))


def _measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    chance = random.Random(7)
    starts: list[float] = []
    with OtlpReceiver() as receiver:
        collector = CollectorProcess(folder, otlp_endpoint=receiver.endpoint, spans_per_second=1e6)
        with collector, Load(collector.url, arguments.processes) as load:
            for _ in range(arguments.kills):
                time.sleep(chance.uniform(0.3, 1.2))
                collector.kill()
                begun = time.monotonic()
                collector.start()
                starts.append(time.monotonic() - begun)
            called = load.finish()
            shown = {
                int(dict(labels)["worker"]): value for (_, labels), value in collector.samples("work_total").items()
            }
            made = sum(spans for _, spans in called.values())
            arrived = received(receiver, made)
            repeated = len(receiver.spans) - arrived
    return {
        "kills": arguments.kills,
        "processes": arguments.processes,
        "reports_acknowledged": int(sum(total for total, _ in called.values())),
        "counter_difference": sum(abs(total - shown.get(worker, 0.0)) for worker, (total, _) in called.items()),
        "spans_made": made,
        "spans_missing": made - arrived,
        "spans_sent_twice_under_the_same_id": repeated,
        "seconds_to_start_again_median": round(sorted(starts)[len(starts) // 2], 2),
    }


def received(receiver: OtlpReceiver, made: int, seconds: float = 60) -> int:
    """How many spans have arrived, once that is as many as were made or the time is up."""
    deadline = time.monotonic() + seconds
    while len(receiver.unique()) < made and time.monotonic() < deadline:
        time.sleep(0.1)
    return len(receiver.unique())


if __name__ == "__main__":
    main()
