"""Rules about what a single panel says and shows."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from generator.lint.fields import is_number
from generator.lint.model import Dashboard, Display, Panel
from generator.lint.registry import Context, Problem, rule
from generator.lint.units import is_unit

_REMOVED = frozenset(
    {"graph", "singlestat", "table-old", "heatmap-old", "grafana-piechart-panel", "grafana-worldmap-panel"}
)
_SHOWS_NUMBERS = frozenset(
    {
        "timeseries", "stat", "gauge", "bargauge", "barchart", "histogram", "heatmap", "table", "trend",
        "xychart", "piechart", "status-history", "graph", "singlestat",
    }
)  # fmt: skip
_NEEDS_QUERY = (_SHOWS_NUMBERS | {"state-timeline", "logs", "traces", "nodeGraph", "candlestick"}) - {"table"}
_COLORED_BY_DEFAULT = frozenset({"stat", "gauge", "bargauge", "state-timeline", "status-history"})
"""Panels whose colours follow the thresholds unless told otherwise."""
_WITHOUT_THRESHOLDS = frozenset({"heatmap", "text", "logs", "traces", "nodeGraph", "histogram", "row", "news"})
_LEFT_OVER = ([None, 80], [0, 80])
"""The steps that Grafana's editor puts into every new panel."""


@rule(
    "panel-title",
    "error",
    "A panel has no title",
    help="Give the panel a title that a person would say.",
    why="Nobody can talk about a panel that has no name, nor tell what it shows.",
)
def panel_title(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        if not panel.title.strip() and panel.type not in ("text", "") and not panel.library:
            yield Problem("the panel has no title", panel, path=panel.path)


@rule(
    "panel-description",
    "warning",
    "A panel has no description",
    help="Say in `description` what the number means and when it is wrong.",
    why="Whoever is woken at night reads the (i) of the panel, not its query.",
)
def panel_description(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        if not panel.description.strip() and panel.type in _NEEDS_QUERY | {"table"} and not panel.library:
            yield Problem("the panel has no description", panel, path=panel.path)


@rule(
    "panel-unit",
    "warning",
    "A panel shows numbers without a unit",
    help="Set the unit in the field options; `short` or `none` if it really has none.",
    why="1200 may be tokens, milliseconds or bytes: a reader guesses.",
)
def panel_unit(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        # What a table shows of traces or logs is words.
        languages = {query.language for query in panel.queries}
        shows = panel.type in _SHOWS_NUMBERS and (panel.type != "table" or "promql" in languages)
        if shows and panel.queries and not _units(panel.display) and _is_numeric(panel.display):
            yield Problem("the panel has no unit", panel, path=panel.path)


def _units(display: Display) -> list[str]:
    overridden = [unit for unit in display.overridden.get("unit", []) if isinstance(unit, str)]
    return [unit for unit in (display.unit, display.axis_unit, *overridden) if unit]


def _is_numeric(display: Display) -> bool:
    """False where words stand in place of the numbers."""
    mapped = display.has_mappings or "mappings" in display.overridden
    return not mapped and not display.fields and display.text_mode not in ("name", "none")


@rule(
    "unknown-unit",
    "warning",
    "A unit is none of Grafana's",
    help="Correct the unit's id, or write `suffix:word` if the word is meant.",
    why="Grafana puts an id that it does not know behind the number as it is, and does not scale it.",
)
def unknown_unit(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        for unit in dict.fromkeys(_units(panel.display)):
            if not is_unit(unit) and "$" not in unit:
                yield Problem(f"Grafana has no unit {unit!r}", panel, path=panel.path)


@rule(
    "panel-without-query",
    "error",
    "A panel has no query",
    help="Add a query, or take the panel away.",
    why="It shows `No data` for ever.",
)
def panel_without_query(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        if panel.type in _NEEDS_QUERY and not panel.queries and not panel.library:
            yield Problem("the panel has no query", panel, path=panel.path)


@rule(
    "removed-panel-type",
    "error",
    "A panel's type is gone from Grafana",
    help="Use its successor: timeseries, stat, table, heatmap, piechart or geomap.",
    why="Panels made with AngularJS are not drawn from Grafana 12 on.",
)
def removed_panel_type(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        if panel.type in _REMOVED:
            yield Problem(f"Grafana 12 has no panel {panel.type!r}", panel, path=panel.path)


@rule(
    "thresholds-not-drawn",
    "warning",
    "Thresholds are set but nothing shows them",
    help="Show them (in a time series `thresholdsStyle`, else the colour scheme `From thresholds`), or take them away.",
    why="Whoever set them believes that the panel warns.",
)
def thresholds_not_drawn(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        steps = panel.display.thresholds
        if len(steps) > 1 and list(steps) not in _LEFT_OVER and not _draws_thresholds(panel):
            yield Problem(_not_drawn(panel), panel, path=panel.display.thresholds_path)


def _draws_thresholds(panel: Panel) -> bool:
    display = panel.display
    if panel.type in _WITHOUT_THRESHOLDS:
        return False
    if panel.type == "gauge" and display.show_markers:
        return True
    if panel.type == "stat" and display.color_option == "none":
        return False
    if panel.type == "table":
        return _colors_cells(display)
    if _draws_lines(display):
        return True
    mode = display.color_mode or ("thresholds" if panel.type in _COLORED_BY_DEFAULT else "")
    return mode == "thresholds" or "thresholds" in _inside(display, "color", "mode")


def _draws_lines(display: Display) -> bool:
    styles = {display.thresholds_style, *_inside(display, "custom.thresholdsStyle", "mode")}
    return bool(styles - {"", "off"})


def _colors_cells(display: Display) -> bool:
    cells = [display.cell_type, *_inside(display, "custom.cellOptions", "type")]
    cells += [cell for cell in display.overridden.get("custom.displayMode", []) if isinstance(cell, str)]
    return any(cell.startswith(("color", "gauge", "gradient", "lcd", "basic")) for cell in cells)


def _inside(display: Display, changed: str, key: str) -> list[str]:
    values: list[Any] = [value.get(key) for value in display.overridden.get(changed, []) if isinstance(value, dict)]
    return [value for value in values if isinstance(value, str)]


def _not_drawn(panel: Panel) -> str:
    numbers = ", ".join(f"{value:g}" for value in panel.display.thresholds if is_number(value))
    return f"nothing in this {panel.type} shows its thresholds ({numbers or 'without a number'})"


@rule(
    "left-over-thresholds",
    "warning",
    "A panel turns red at 80 because nobody chose its thresholds",
    help="Set the thresholds to what is right for this number, or leave the base alone.",
    why="80 is what Grafana's editor puts into every new panel: it is right for a percentage at most.",
)
def left_over_thresholds(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        left_over = list(panel.display.thresholds) in _LEFT_OVER
        if left_over and panel.display.unit != "percent" and _draws_thresholds(panel) and _is_numeric(panel.display):
            yield Problem("turns red at 80, Grafana's default", panel, path=panel.display.thresholds_path)


@rule(
    "thresholds-order",
    "error",
    "Thresholds are not numbers in rising order",
    help="Sort the steps by value; the first, the base, has the value null.",
    why="Grafana takes the last step below the value: one out of order is never reached, or hides others.",
)
def thresholds_order(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        wrong = _wrong_steps(panel.display.thresholds)
        if wrong:
            yield Problem(wrong, panel, path=panel.display.thresholds_path)


def _wrong_steps(values: tuple[Any, ...]) -> str:
    # The first step is the base, whatever its value: v2 writes 0 there, the classic schema null.
    if values and values[0] is not None and not is_number(values[0]):
        return f"the base of the thresholds has the value {str(values[0])[:40]!r}"
    for value in values[1:]:
        if not is_number(value):
            return f"a threshold has the value {'null' if value is None else repr(str(value)[:40])}"
    for below, above in pairwise(values[1:]):
        if above <= below:
            return f"the threshold {above:g} stands after {below:g}"
    return ""


@rule(
    "legend",
    "warning",
    "A query leaves the names of its lines to Grafana",
    help="Set `legendFormat`, such as {{instance}}, or a fixed word for a single line.",
    why="With one line Grafana shows the whole label set, with several an arbitrary part of it.",
)
def legend(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        named = panel.display.display_name or "displayName" in panel.display.overridden
        if panel.type not in ("timeseries", "trend", "graph") or named or not panel.display.legend_shown:
            continue
        for query in panel.queries:
            if query.language == "promql" and not query.hidden and query.legend in ("", "__auto"):
                yield Problem("there is no legend format", panel, query, query.text_path)


@rule(
    "max-data-points",
    "warning",
    "A panel is held to 100 points",
    help="Take `maxDataPoints` away: Grafana then asks for as many points as the panel is wide.",
    why="100 is the default of old generators: curves become coarse and short peaks disappear.",
)
def max_data_points(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        if panel.max_data_points == 100 and panel.type in ("timeseries", "graph", "heatmap", "state-timeline"):
            yield Problem("maxDataPoints is 100", panel, path=(*panel.path, "maxDataPoints"))
