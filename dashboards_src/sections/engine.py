"""What the rollout sections of vLLM and of SGLang have in common."""

from collections.abc import Sequence

from dashboards_src.replicas import SPREAD_LOOK, WORST_BY_NAME
from dashboards_src.run import BY_REPLICA, BY_RUN, RUN
from generator.fields import limits
from generator.panel import Panel
from generator.panels import bargauge, heatmap, timeseries
from generator.promql import Names
from generator.queries import Query
from generator.variables import Variable

KV_CACHE_LIMITS = limits(above=(0.9, 0.98))
"""Past 0.9 little room is left for a burst; at 0.98 the next long request makes the engine evict."""

STRAGGLER_LIMITS = limits(above=(1.5, 2.0))
"""Slowest over median: half as slow again is worth a look, twice as slow holds up every step."""

REPLICA = 'replica=~"$replica"'


def replica_variable(any_metric: str) -> Variable:
    """Which replicas are shown in full: one at first, since each costs ten panels."""
    return Variable(
        "replica", "Replica in full", f"label_values({RUN.select(any_metric)}, replica)", multi=True, sort="number"
    )


def straggler_panels(*, inter_token: Names, whole_request: Names, load: str) -> tuple[Panel, ...]:
    """How far the slowest replica is behind the median, and which one it is.

    `load` is PromQL of one series a replica: the requests that it runs.
    """
    token = RUN.mean(inter_token, by=("replica",))
    token_over_range = RUN.over_range().mean(inter_token, by=("replica",))
    request = RUN.mean(whole_request, by=("replica",))
    return (
        timeseries(
            "Straggler index",
            Query(_over_median(token), f"time between tokens {BY_RUN}"),
            Query(_over_median(request), f"time of a request {BY_RUN}"),
            description="The slowest replica's mean time over the median replica's: 1 means that all are alike. "
            "Above 1.5 for minutes one replica holds the others up. If only the time between tokens is "
            "high, its device or its neighbours are slow; if only that of requests, it got longer work.",
            unit="short",
            thresholds=STRAGGLER_LIMITS,
            bands=True,
            fill=0,
            line_width=2,
            width=10,
            minimum=1,
        ),
        timeseries(
            "Load imbalance",
            Query(f"{RUN.max(load)} / ({RUN.avg(load)} > 0)", BY_RUN),
            description="Running requests of the fullest replica over the mean: 1 means that all carry the same. "
            "High at the end of a batch is the long tail; high all along is uneven routing.",
            unit="short",
            width=7,
            fill=0,
            minimum=1,
        ),
        bargauge(
            "Slowest replicas, time between tokens over the median",
            Query(RUN.top(WORST_BY_NAME, _each_over_median(token_over_range)), BY_REPLICA, instant=True),
            description="Each replica's mean time between tokens over all of the time that is shown, over the median "
            "replica's: zoom in on a bad stretch to see who it was.",
            unit="short",
            thresholds=STRAGGLER_LIMITS,
            minimum=0,
            maximum=4,
            width=7,
        ),
    )


def one_replica(
    *,
    running: str,
    waiting: str,
    cache: str,
    generated: str,
    prompted: str,
    thrown_out: str,
    first_token: Names,
    inter_token: Names,
    whole_request: Names,
    generation_length: Names,
) -> tuple[Panel, ...]:
    """One replica on one screen: its load, its cache, its speed and what it generates."""
    return (
        timeseries(
            "Requests of this replica",
            Query(running, f"running {BY_REPLICA}"),
            Query(waiting, f"waiting {BY_REPLICA}"),
            description="Requests in this replica's batch and in its queue. Idle while others work: look at routing.",
            unit="short",
            minimum=0,
        ),
        timeseries(
            "Tokens a second of this replica",
            Query(generated, f"generated {BY_REPLICA}"),
            Query(prompted, f"prompt {BY_REPLICA}"),
            description="Tokens that this replica sampled and prefilled a second.",
            unit="suffix: tok/s",
            minimum=0,
        ),
        timeseries(
            "KV cache of this replica",
            Query(cache, BY_REPLICA),
            description="Share of this replica's KV cache in use; at 100 % it throws requests out.",
            unit="percentunit",
            thresholds=KV_CACHE_LIMITS,
            minimum=0,
            maximum=1,
        ),
        _quantiles(
            "Time to first token of this replica",
            first_token,
            "How long this replica's requests took from arrival to the first token.",
        ),
        _quantiles(
            "Time between tokens of this replica",
            inter_token,
            "How long this replica's requests took from one token to the next.",
        ),
        _quantiles(
            "Time of a whole request of this replica",
            whole_request,
            "How long this replica's requests took from arrival to the last token.",
        ),
        timeseries(
            "Requests thrown out of this replica's batch",
            Query(thrown_out, BY_REPLICA),
            description="Requests a second whose KV cache was taken away, so that their tokens are computed "
            "again. Should be zero.",
            unit="suffix: req/s",
            minimum=0,
        ),
        heatmap(
            "Generation length of this replica",
            Query(RUN.buckets(generation_length, REPLICA, by=("replica",)), "{{le}}", shape="heatmap"),
            description="How many tokens this replica's finished requests generated.",
            unit="short",
            width=16,
        ),
    )


def _quantiles(title: str, histogram: Names, what: str) -> Panel:
    quantiles: Sequence[tuple[str, float]] = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    return timeseries(
        title,
        *(Query(RUN.quantile(q, histogram, REPLICA, by=("replica",)), f"{name} {BY_REPLICA}") for name, q in quantiles),
        description=what,
        unit="s",
        fill=0,
        overrides=SPREAD_LOOK,
        minimum=0,
    )


def _over_median(each: str) -> str:
    return f"{RUN.max(each)} / ({RUN.median(each)} > 0)"


def _each_over_median(each: str) -> str:
    labels = ", ".join(RUN.labels)
    return f"{each} / on ({labels}) group_left () ({RUN.median(each)} > 0)"
