"""The calls that start and end the client and report metrics and scrape targets.

A call that reports is an update in memory. None ever raises.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from rl_insight.client import client
from rl_insight.metrics import Counter, Gauge, Histogram


def init(
    project: str | None = None, experiment_name: str | None = None, config: Mapping[str, Any] | None = None
) -> None:
    """Starts reporting to the server that `RL_INSIGHT_SERVER_URL` names, else `config["server"]["url"]`.

    Without either one error is logged, and every call does nothing. The names are the run's; a
    process without them is found to belong to it by its job. A second call warns and changes
    nothing, unless it brings names and the first had none. docs/client.md lists what `config` takes.
    """
    with client.guard("init"):
        client.init(project, experiment_name, config)


def finish() -> None:
    """Sends what is left, waiting 5 s at most, and ends reporting until the next `init`."""
    with client.guard("finish"):
        client.finish()


# `Exception` is caught here on purpose: whatever a caller passes in, training goes on.
# What went wrong is found, logged and counted by the slow path, which a first call takes too.


def metric_gauge(name: str, value: float, documentation: str = "", **labels: object) -> None:
    """Sets a gauge: its last value stands."""
    metrics = client.metrics
    if metrics is None:
        return
    try:
        metrics.gauges[(name, *labels, *labels.values()) if labels else name].update(value)
    except Exception:
        client.began()
        metrics.update(Gauge, name, value, documentation, labels)


def metric_count(name: str, amount: float = 1.0, documentation: str = "", **labels: object) -> None:
    """Adds to a counter, which is exposed with the suffix `_total`; `amount` is not negative."""
    metrics = client.metrics
    if metrics is None:
        return
    try:
        metrics.counters[(name, *labels, *labels.values()) if labels else name].update(amount)
    except Exception:
        client.began()
        metrics.update(Counter, name, amount, documentation, labels)


def metric_histogram(name: str, value: float, documentation: str = "", **labels: object) -> None:
    """Counts a value in its bucket; the bounds are those of prometheus_client, 0.005 to 10."""
    metrics = client.metrics
    if metrics is None:
        return
    try:
        metrics.histograms[(name, *labels, *labels.values()) if labels else name].update(value)
    except Exception:
        client.began()
        metrics.update(Histogram, name, value, documentation, labels)


def update_prometheus_config(
    server_addresses: Iterable[str],
    job_name: str | None = None,
    labels: Iterable[Mapping[str, object] | None] | Mapping[str, object] | None = None,
) -> None:
    """Registers `/metrics` endpoints, `host:port` or `[v6]:port`, for Prometheus to scrape.

    `job_name` is their Prometheus job, `trainer_metrics` if None. `labels` is one mapping for each
    address, or one for all. Registering again is harmless, and the last labels stand.
    """
    client.began(early=True)
    targets = client.targets
    if targets is None:
        return
    with client.guard("update_prometheus_config"):
        targets.register(server_addresses, job_name, labels)
