"""Builds reports as docs/reports.md has them."""

import gzip
import json
from typing import Any

Report = dict[str, Any]
START_NS = 1_800_000_000_000_000_000
"""The client's clock in the tests."""

SECOND = 1_000_000_000
RUN = {"project": "math", "experiment_name": "first"}
OTHER_RUN = {"project": "math", "experiment_name": "second"}


def report(source: int = 1, sequence: int = 1, **fields: Any) -> Report:
    """A report of a source that is told by a number."""
    return {
        "version": 1,
        "source": {"id": f"{source:032x}", "host": f"node-{source}", "pid": 1000 + source, "start_ns": START_NS},
        "sequence": sequence,
        "sent_ns": START_NS + sequence * 2 * SECOND,
        "job": "job-1",
        "run": None,
        "full": sequence == 1,
        "final": False,
        "metrics": [],
        "states": {"totals": [], "open": []},
        "spans": [],
        "targets": [],
        "dropped": {},
        **fields,
    }


def gauge(name: str, value: Any, set_ns: int = START_NS, **labels: str) -> Report:
    return {"name": name, "type": "gauge", "help": f"About {name}.", "series": [[labels, value, set_ns]]}


def counter(name: str, total: Any, **labels: str) -> Report:
    return {"name": name, "type": "counter", "help": f"About {name}.", "series": [[labels, total]]}


def histogram(
    name: str, counts: list[int], total: Any, buckets: tuple[float, ...] = (1.0, 2.0), **labels: str
) -> Report:
    series = [[labels, counts, total]]
    return {"name": name, "type": "histogram", "help": f"About {name}.", "buckets": list(buckets), "series": series}


def states(*totals: list[Any], open_: tuple[list[Any], ...] = ()) -> Report:
    return {"totals": list(totals), "open": list(open_)}


def state_span(number: int, lane: str = "replica_0", state: str = "vllm_generate", **fields: Any) -> Report:
    start = START_NS + number * SECOND
    return {
        "number": number,
        "kind": "state",
        "name": state,
        "start_ns": start,
        "end_ns": start + SECOND,
        "attributes": {},
        "lane": lane,
        "state": state,
        "interval_id": f"i{number}",
        "open": False,
        **fields,
    }


def targets(*addresses: str, job_name: str = "vllm", **labels: str) -> Report:
    return {"job_name": job_name, "targets": [{"target": one, "labels": labels} for one in addresses]}


def body(content: Report) -> bytes:
    return gzip.compress(json.dumps(content).encode(), 1)
