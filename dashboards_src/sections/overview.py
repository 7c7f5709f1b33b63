"""The first screen: is the run healthy, and if not, where to look. At most 15 queries."""

from collections.abc import Sequence
from dataclasses import replace

from dashboards_src.run import BY_RUN, RUN
from dashboards_src.scalars import metric, select, thresholds
from dashboards_src.sections import precision, targets, timeline, timing, transfer_queue
from dashboards_src.sections.engine import KV_CACHE_LIMITS
from dashboards_src.states import STATE, state_overrides
from generator.dashboard import Section
from generator.fields import (
    GREEN,
    GREY,
    ORANGE,
    RED,
    PanelLink,
    Threshold,
    limits,
    plain,
    range_text,
    special_text,
    value_text,
)
from generator.panel import Panel
from generator.panels import gauge, stat, timeseries
from generator.promql import or_zero
from generator.queries import Query

STEP = select("training/global_step")

_ROSE_AT = f"max_over_time((timestamp({STEP}) * ({STEP} != bool ({STEP} offset 1m)))[3h:30s]) > 0"
_SEEN_SINCE = f"min_over_time(timestamp({STEP})[3h:30s])"

_SINCE_STEP = f"(time() - {RUN.max(f'({_ROSE_AT} or {_SEEN_SINCE})')})"
"""Seconds since the step last rose, to about a minute; since it was first seen where it never rose in three hours."""

_MEDIAN_STEP = f"quantile_over_time(0.5, {select('perf/time_per_step')}[1h])"
_USUAL_STEP = f"clamp_min({RUN.max(_MEDIAN_STEP)}, 60)"

_TILE = 4


def overview(*, kv_cache: str, waiting: str, waiting_panel: str) -> Section:
    """The first screen.

    `kv_cache` and `waiting` are the engine's PromQL, one series a run; `waiting_panel` is the title
    of the engine's panel of waiting requests.
    """
    return Section("Overview", [*_run(), *_pipeline(kv_cache, waiting, waiting_panel), *_graphs()], collapsed=False)


def _run() -> Sequence[Panel]:
    diff = metric("training/rollout_probs_diff_mean")
    bands = thresholds(diff.healthy)
    warning, critical = bands[1].value, bands[2].value
    return (
        stat(
            "Training step",
            Query(STEP, BY_RUN),
            description="The step that the trainer has finished last, of each run chosen above.",
            unit="none",
            decimals=0,
            thresholds=plain("blue"),
            links=[PanelLink("Training: rewards and progress", "Training step")],
        ),
        stat(
            "Since the last step",
            Query(f"{_SINCE_STEP} / {_USUAL_STEP}", BY_RUN, instant=True),
            description="Time since the step last rose, in usual step times (the median of the last hour, a minute at "
            "least). Beyond three the run hangs, or it validates or saves a checkpoint; the timeline shows which.",
            unit="suffix: step times",
            decimals=1,
            sparkline=False,
            thresholds=limits(above=(2, 3)),
            no_value="first step",
            links=[PanelLink(timeline.SYNC_TITLE, "States of rollout replicas and trainer ranks")],
        ),
        stat(
            "Reward",
            Query(select("critic/rewards/mean"), BY_RUN),
            description="Mean reward of the last step's batch, over its trend. It should rise and level off; a fall or "
            "a flat line from the start calls for a look at entropy, KL and gradient norm.",
            unit="none",
            decimals=3,
            thresholds=plain("blue"),
            links=[PanelLink("Training: rewards and progress", "Rewards")],
        ),
        stat(
            "Throughput per GPU",
            Query(select("perf/throughput"), BY_RUN),
            description="Tokens of the step's batch a second and GPU, over its trend.",
            unit="suffix: tok/s",
            decimals=0,
            thresholds=plain("blue"),
            links=[PanelLink("Training: throughput and MFU", "Tokens a second per GPU")],
        ),
        stat(
            "Time per step",
            Query(select("perf/time_per_step"), BY_RUN),
            description="Wall time of the last step, over its trend. Longer responses lengthen it; if they do not, the "
            "stages of the step tell which became slower.",
            unit="s",
            thresholds=plain("blue"),
            links=[PanelLink(timing.TITLE, "Where a step's time goes")],
        ),
        stat(
            "Rollout precision",
            Query(f"quantile_over_time(0.5, {select(diff.key)}[10m]) or on () vector(-1)", BY_RUN, instant=True),
            description="Do the engine and the trainer agree on token probabilities? The median over ten minutes of "
            "rollout_probs_diff_mean, so that one odd step does not count: normal below 0.005, abnormal above 0.01.",
            unit="none",
            decimals=4,
            sparkline=False,
            background=True,
            show="value",
            thresholds=(Threshold(None, GREY), *(replace(step, value=step.value or 0) for step in bands)),
            mappings=[
                value_text({"-1": ("not measured", GREY)}),
                special_text("nan", "not valid", ORANGE),
                range_text(0, warning, "normal", GREEN),
                range_text(warning, critical, "suspect", ORANGE),
                range_text(critical, None, "abnormal", RED),
            ],
            links=[PanelLink(precision.TITLE, precision.PROBS_DIFF)],
        ),
    )


def _pipeline(kv_cache: str, waiting: str, waiting_panel: str) -> Sequence[Panel]:
    return (
        gauge(
            "KV cache in use",
            Query(kv_cache, BY_RUN, instant=True),
            description="Share of the KV cache in use on the fullest replica. Near 100 % with requests waiting, the "
            "engine throws requests out and computes them again.",
            unit="percentunit",
            minimum=0,
            maximum=1,
            decimals=0,
            height=_TILE,
            thresholds=KV_CACHE_LIMITS,
            links=[PanelLink("Rollout: cache", "KV cache in use")],
        ),
        stat(
            "Requests waiting",
            Query(waiting, BY_RUN),
            description="Requests that wait for a place in an engine's batch, on all replicas together.",
            unit="short",
            width=5,
            thresholds=plain("blue"),
            no_value="no engine metrics",
            links=[PanelLink("Rollout: throughput and load", waiting_panel)],
        ),
        stat(
            "TransferQueue backlog",
            Query(RUN.sum(RUN.max(transfer_queue.BACKLOG, "partition_id")), BY_RUN),
            description="Samples that are produced and that the slowest task has not taken yet. Growing step by step: "
            "training is slower than rollout.",
            unit="short",
            width=5,
            decimals=0,
            thresholds=plain("blue"),
            no_value="no TransferQueue",
            links=[PanelLink(transfer_queue.TITLE, transfer_queue.BACKLOG_TITLE)],
        ),
        stat(
            "Scrape targets down",
            Query(or_zero(f"count({targets.UP} == 0)"), "down", instant=True),
            description="Endpoints of this run and of the hardware that Prometheus cannot read. Panels that need them "
            "are empty or stale. See Prometheus, Status, Targets for the reason.",
            unit="none",
            sparkline=False,
            background=True,
            width=5,
            thresholds=limits(above=(1, 3)),
            links=[PanelLink(targets.TITLE, "Scrape targets")],
        ),
        stat(
            "Alerts firing",
            Query(or_zero(f"count({targets.FIRING})"), "firing", instant=True),
            description="Alerts of this run that fire now, by Prometheus's own rules.",
            unit="none",
            sparkline=False,
            background=True,
            width=5,
            thresholds=limits(above=(1, 5)),
            links=[PanelLink(targets.TITLE, "Alerts firing")],
        ),
    )


def _graphs() -> Sequence[Panel]:
    return (
        timeseries(
            timeline.STATES_NOW,
            Query(timeline.share_in_state(), f"{{{{{STATE}}}}} {BY_RUN}"),
            description=timeline.STATE_SHARE_DESCRIPTION,
            unit="percentunit",
            stack="normal",
            minimum=0,
            maximum=1,
            width=12,
            overrides=state_overrides(),
            links=[
                PanelLink(timeline.SYNC_TITLE, "States of rollout replicas and trainer ranks"),
                PanelLink(timeline.ASYNC_TITLE, "States of rollout replicas"),
            ],
        ),
        timing.share_of_step(width=12, height=8, links=[PanelLink(timing.TITLE, "Seconds of each stage")]),
    )
