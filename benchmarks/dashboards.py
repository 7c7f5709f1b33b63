"""Building and linting all dashboards, as whole processes: `python -m benchmarks.dashboards`.

Aim: build under 1 s, lint under 2 s.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time

RLI = [sys.executable, "-c", "from rli.main import main; main()", "dashboards"]
ROUNDS = 7


def seconds(arguments: list[str]) -> dict[str, float]:
    """Wall time of the command, over some rounds after one that warms the disk's cache."""
    times = []
    for _ in range(ROUNDS + 1):
        begin = time.perf_counter()
        subprocess.run([*RLI, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return {"median_s": round(statistics.median(times[1:]), 3), "slowest_s": round(max(times[1:]), 3)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = {
            "benchmark": "dashboards",
            "rounds": ROUNDS,
            "build": seconds(["build", "--out", folder]) | {"aim_s": 1.0},
            "lint": seconds(["lint", "--strict", folder]) | {"aim_s": 2.0},
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
