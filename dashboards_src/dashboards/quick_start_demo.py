"""A first smoke test: one state lane, a counter, a gauge and a histogram, all called demo."""

from dashboards_src.run import BY_RUN, RUN, TAG, TRAINER, run_variables
from dashboards_src.states import LANE, STATE, STATE_SECONDS, state_mappings, state_overrides
from generator.dashboard import Dashboard, DashboardLinks, Section
from generator.panels import heatmap, stat, timeseries
from generator.queries import Query, TraceQuery
from generator.span_timeline import span_timeline

_COUNTER = f"{TRAINER}demo_requests_total"
_GAUGE = f"{TRAINER}demo_temperature"
_HISTOGRAM = f"{TRAINER}demo_latency_seconds"

_OF_RUN = " && ".join(f"span.{label} =~ `${{{variable}:regex}}`" for label, variable in RUN.filters)

DASHBOARD = Dashboard(
    name="quick_start_demo",
    description="Does anything arrive? One state lane, a counter, a gauge and a histogram, from a few lines of Python.",
    sections=[
        Section(
            "Everything that the demo sends",
            [
                stat(
                    "Requests",
                    Query(RUN.sum(RUN.increase(_COUNTER)), BY_RUN),
                    description="What metric_count added to the counter demo_requests over the last rate interval.",
                    unit="short",
                    height=8,
                ),
                stat(
                    "Temperature",
                    Query(RUN.select(_GAUGE), BY_RUN),
                    description="What metric_gauge last set demo_temperature to.",
                    unit="celsius",
                    height=8,
                ),
                timeseries(
                    "Requests a second",
                    Query(RUN.sum(RUN.rate(_COUNTER)), BY_RUN),
                    description="How fast the counter demo_requests grows. Flat at zero: the client stopped.",
                    unit="suffix: req/s",
                    minimum=0,
                    height=8,
                ),
                heatmap(
                    "Latency",
                    Query(RUN.buckets(_HISTOGRAM), "{{le}}", shape="heatmap"),
                    description="What metric_histogram observed as demo_latency_seconds.",
                    unit="s",
                    width=8,
                ),
                span_timeline(
                    "States of the demo lane",
                    TraceQuery(f'{{{_OF_RUN} && span.{STATE} =~ ".+"}} | select(span.{LANE}, span.{STATE})'),
                    description="What trace_state entered and left, from spans in Tempo. Empty while the graph below "
                    "is not: Tempo does not get the spans.",
                    lane=LANE,
                    owner=RUN.labels,
                    colors=state_mappings(),
                    height=8,
                ),
                timeseries(
                    "Seconds in each state",
                    Query(RUN.sum(RUN.rate(STATE_SECONDS), STATE), f"{{{{{STATE}}}}} {BY_RUN}"),
                    description="Seconds a second that the demo's lanes spend in each state, from the collector's "
                    "counters.",
                    unit="none",
                    stack="normal",
                    minimum=0,
                    width=24,
                    height=7,
                    overrides=state_overrides(),
                ),
            ],
            collapsed=False,
        )
    ],
    variables=run_variables(f"{TRAINER}demo_.+"),
    links=(DashboardLinks("RL-Insight", TAG),),
    tags=(TAG, "demo"),
    time_from="now-15m",
    refresh="5s",
)
