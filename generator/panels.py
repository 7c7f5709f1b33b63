"""The panels: one function for each kind, with what its user decides and defaults for the rest.

Sizes are in Grafana's grid: a dashboard is 24 wide, a unit of height is 30 pixels. Where a
panel stands follows from its place in its section, never from coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from generator import classes
from generator.fields import Json
from generator.panel import Common, Panel, hidden_from_nothing, last_value, legend_of, make
from generator.queries import AnyQuery

if TYPE_CHECKING:
    from typing_extensions import Unpack

Orientation = Literal["auto", "horizontal", "vertical"]


def timeseries(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    stack: Literal["none", "normal", "percent"] = "none",
    fill: int = 10,
    line_width: int = 1,
    bands: bool = False,
    legend: Literal["list", "table", "hidden"] = "list",
    **common: Unpack[Common],
) -> Panel:
    """Values over time. `bands` fills the background between thresholds instead of ruling lines."""
    drawn = ("line+area" if bands else "dashed") if common.get("thresholds") else "off"
    return make(
        classes.TimeSeries,
        title,
        queries,
        description,
        unit,
        common,
        size=(8, 8),
        options={"legend": legend_of(legend), "tooltip": {"mode": "multi", "sort": "desc"}},
        fillOpacity=fill if stack == "none" else max(fill, 60),
        lineWidth=line_width,
        showPoints="auto",
        stacking={"mode": stack, "group": "A"},
        thresholdsStyleMode=drawn,
    )


def stat(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    sparkline: bool = True,
    background: bool = False,
    show: Literal["auto", "value", "value_and_name", "name"] = "auto",
    **common: Unpack[Common],
) -> Panel:
    """One large value a series, over a faint line of its history. `background` colours the tile."""
    return make(
        classes.Stat,
        title,
        queries,
        description,
        unit,
        common,
        size=(4, 4),
        graphMode="area" if sparkline else "none",
        colorMode="background" if background else "value",
        reduceCalc="lastNotNull",
        textMode=show,
        noValue="",
        color={"mode": "thresholds"},
        is_tile=True,
    )


def gauge(title: str, *queries: AnyQuery, description: str, unit: str, **common: Unpack[Common]) -> Panel:
    """A dial from the minimum to the maximum, with the thresholds along its rim."""
    options = {
        "reduceOptions": last_value(),
        "orientation": "auto",
        "showThresholdLabels": False,
        "showThresholdMarkers": True,
        "sizing": "auto",
        "minVizWidth": 75,
        "minVizHeight": 75,
    }
    panel = _by_options("gauge", title, queries, description, unit, common, (4, 6), options)
    return replace(panel, is_tile=True)


def bargauge(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    orientation: Orientation = "horizontal",
    **common: Unpack[Common],
) -> Panel:
    """A bar a series, so that many are compared at a glance."""
    options = {
        "reduceOptions": last_value(),
        "orientation": orientation,
        "displayMode": "gradient",
        "valueMode": "color",
        "namePlacement": "auto",
        "showUnfilled": True,
        "sizing": "auto",
        "minVizWidth": 8,
        "minVizHeight": 16,
        "maxVizHeight": 300,
        "legend": legend_of("hidden"),
    }
    return _by_options("bargauge", title, queries, description, unit, common, (8, 8), options)


def heatmap(title: str, *queries: AnyQuery, description: str, unit: str, **common: Unpack[Common]) -> Panel:
    """How the buckets of a histogram fill over time; `unit` is that of what was observed."""
    options = {
        "calculate": False,
        "color": {
            "mode": "scheme",
            "scheme": "Turbo",
            "fill": "dark-orange",
            "scale": "exponential",
            "exponent": 0.5,
            "steps": 64,
            "reverse": False,
        },
        # Buckets that are empty are left dark instead of the scheme's lowest colour.
        "filterValues": {"le": 1e-9},
        "rowsFrame": {"layout": "auto"},
        "showValue": "never",
        "cellGap": 1,
        "yAxis": {"unit": unit, "axisPlacement": "left", "reverse": False},
        "cellValues": {"unit": "short"},
        "legend": {"show": True},
        "tooltip": {"mode": "single", "yHistogram": True, "showColorScale": True},
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
    }
    custom = {"scaleDistribution": {"type": "linear"}, "hideFrom": hidden_from_nothing()}
    return _by_options("heatmap", title, queries, description, unit, common, (12, 8), options, custom)


def table(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    sort_by: str | None = None,
    descending: bool = True,
    **common: Unpack[Common],
) -> Panel:
    """Rows and columns; `sort_by` is the shown name of a column."""
    sorting = [{"displayName": sort_by, "desc": descending}] if sort_by else []
    return make(
        classes.Table,
        title,
        queries,
        description,
        unit,
        common,
        size=(12, 8),
        options={"sortBy": sorting, "cellHeight": "sm", "footer": {"show": False, "reducer": []}},
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True, "inspect": False},
    )


def state_timeline(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str = "none",
    **common: Unpack[Common],
) -> Panel:
    """A row a series, coloured by what it is at each moment; equal neighbours become one bar."""
    return make(
        classes.StateTimeline,
        title,
        queries,
        description,
        unit,
        common,
        size=(24, 14),
        options={
            "legend": legend_of("list"),
            "tooltip": {"mode": "single", "sort": "none"},
            # Grafana before 11.4 has no pages and shows all rows.
            "perPage": 64,
        },
        custom={"hideFrom": hidden_from_nothing()},
        fillOpacity=85,
        rowHeight=0.9,
    )


def status_history(title: str, *queries: AnyQuery, description: str, unit: str, **common: Unpack[Common]) -> Panel:
    """A row a series, a cell a moment: how many series did over time, without their lines crossing."""
    options = {
        "legend": legend_of("list"),
        "tooltip": {"mode": "single", "sort": "none"},
        "showValue": "never",
        "rowHeight": 0.9,
        "colWidth": 1,
        "perPage": 64,
    }
    custom = {"fillOpacity": 85, "lineWidth": 0, "hideFrom": hidden_from_nothing()}
    return _by_options("status-history", title, queries, description, unit, common, (24, 10), options, custom)


def trend(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    x_field: str,
    **common: Unpack[Common],
) -> Panel:
    """Values against a number that grows, such as the training step, instead of against time."""
    options = {"xField": x_field, "legend": legend_of("table"), "tooltip": {"mode": "multi", "sort": "desc"}}
    custom = {
        "drawStyle": "line",
        "lineWidth": 2,
        "fillOpacity": 0,
        "showPoints": "never",
        "spanNulls": True,
        "thresholdsStyle": {"mode": "line+area" if common.get("thresholds") else "off"},
        "hideFrom": hidden_from_nothing(),
    }
    return _by_options("trend", title, queries, description, unit, common, (12, 9), options, custom)


def bar_chart(
    title: str,
    *queries: AnyQuery,
    description: str,
    unit: str,
    x_field: str | None = None,
    orientation: Orientation = "auto",
    stack: Literal["none", "normal", "percent"] = "none",
    **common: Unpack[Common],
) -> Panel:
    """A bar a row of a table, under the text of the column `x_field`."""
    options: Json = {"xTickLabelMaxLength": 0, "fullHighlight": False}
    if x_field:
        options["xField"] = x_field
    return make(
        classes.BarChart,
        title,
        queries,
        description,
        unit,
        common,
        size=(8, 8),
        options=options,
        custom={"thresholdsStyle": {"mode": "off"}},
        orientation=orientation,
        stacking=stack,
    )


def text(title: str, content: str, *, description: str = "", width: int = 24, height: int = 4) -> Panel:
    """Words in Markdown, for what no number says."""
    body = classes.Text(title=title, description=description, content=content)
    return Panel(title, width, height, (), (), body)


def _by_options(
    panel_type: str,
    title: str,
    queries: Sequence[AnyQuery],
    description: str,
    unit: str,
    common: Common,
    size: tuple[int, int],
    options: Json,
    custom: Json | None = None,
) -> Panel:
    colored: Common = {
        "color": {"mode": "palette-classic" if panel_type == "trend" else "thresholds"},
        **common,
    }
    return make(
        classes.OptionsPanel,
        title,
        queries,
        description,
        unit,
        colored,
        size=size,
        options=options,
        custom=custom,
        panelType=panel_type,
    )
