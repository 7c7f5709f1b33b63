"""The outline shows what a review needs to see."""

from generator.dashboard import Annotation, Dashboard, Section
from generator.outline import outline
from generator.panels import text, timeseries
from generator.queries import Query, TraceQuery
from generator.span_timeline import span_timeline
from generator.variables import Variable


def test_an_outline_has_rows_panels_units_and_queries() -> None:
    demo = Dashboard(
        name="demo",
        description="what it is for",
        sections=[
            Section("Open", [timeseries("Up", Query("up"), Query("1"), description="d", unit="s")], collapsed=False),
            Section(
                "Each $x",
                [
                    span_timeline(
                        "Lanes", TraceQuery("{}"), description="d", lane="l", owner=(), colors=[(".*", "blue")]
                    ),
                    text("Words", "w"),
                ],
                repeat="x",
            ),
        ],
        variables=[Variable("x", "X", "label_values(up, job)")],
        annotations=[Annotation("marks", "up == 0", "down")],
    )
    assert outline(demo.build()).splitlines() == [
        "demo: what it is for",
        "  $x = label_values(up, job)",
        "  @marks = up == 0",
        "",
        "▾ Open",
        "  Up [timeseries, s, 8x8]",
        "    A: up",
        "    B: 1",
        "",
        "▸ Each $x (for each $x)",
        "  Lanes [state-timeline, none, 24x18]",
        "    A: {}",
        "  Words [text, 24x4]",
    ]
