"""A state timeline drawn from spans: a row a lane, a bar a span, coloured by its state.

The chain of transformations follows what a real Grafana 12 needs with a real Tempo: durations
come in nanoseconds and starts in milliseconds; without an end each lane's last state would run
to the right edge; lanes come in the order of the answer, and as text rank_10 before rank_2.
"""

from collections.abc import Sequence

from generator import transformations as to
from generator.fields import Json, color_by_regex, fixed_color, text_columns
from generator.panel import Panel
from generator.panels import state_timeline
from generator.queries import TraceQuery


def span_timeline(
    title: str,
    query: TraceQuery,
    *,
    description: str,
    lane: str,
    owner: Sequence[str],
    colors: Sequence[tuple[str, str]],
    height: int = 18,
) -> Panel:
    """The spans of `query`, each a root span in a trace of its own.

    `lane` and `owner` are attributes that the query selects: a row for each combination, named
    after its lane. The one other attribute it selects is the state. `colors` are pairs of a
    regex over states and a colour, of which the first that matches wins.
    """
    return state_timeline(
        title,
        query,
        description=description,
        transformations=_lanes(lane, owner),
        mappings=color_by_regex(colors),
        color=fixed_color("text"),
        # As an override: partitioning names each field itself, which a default would not replace.
        overrides=[text_columns(displayName=f"${{__field.labels.{lane}}}")],
        height=height,
    )


def _lanes(lane: str, owner: Sequence[str]) -> list[Json]:
    """From Tempo's table of spans to one frame a lane with its start, its end and its state."""
    helpers = ("Duration", "Duration ms", "lane_kind", "lane_number")
    of_tempo = ("traceIdHidden", "Trace ID", "Trace Service", "Trace Name", "Span ID", "Name")
    return [
        to.calculated("Duration ms", "Duration", "/", "1000000"),
        to.calculated("End time", "Start time", "+", "Duration ms"),
        to.converted({"Start time": "time", "End time": "time"}),
        to.extracted(lane, r"^(?<lane_kind>.*?)[_-]?(?<lane_number>\d*)$"),
        to.converted({"lane_number": "number"}),
        to.sorted_by("lane_number"),
        # Descending, so that rollout replicas stand above trainer ranks.
        to.sorted_by("lane_kind", descending=True),
        to.columns(hidden=(*helpers, *of_tempo)),
        to.partitioned(*owner, lane),
    ]
