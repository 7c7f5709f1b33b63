"""Rules about where panels stand, and how they are told apart."""

import re
from collections.abc import Iterator

from generator.lint.model import Dashboard, Grid, Panel, Row
from generator.lint.registry import Context, Problem, rule

_Placed = tuple[Grid, Panel | Row]
_COLUMNS = 24
_PANEL_LINK = re.compile(r"/d/(?P<uid>[\w-]+)[^?#]*\?(?:.*&)?viewPanel=(?:panel-)?(?P<panel>\d{1,15})(?:[&#]|$)")


@rule(
    "duplicate-panel-id",
    "error",
    "Two panels have one id",
    help="Give each panel an id of its own.",
    why="Links and the view of one panel open the wrong one, and Grafana renumbers them as it likes.",
)
def duplicate_panel_id(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    seen: dict[int, Panel | Row] = {}
    for owner in dashboard.rows_and_panels():
        if owner.id is None:
            continue
        first = seen.setdefault(owner.id, owner)
        # A v2 element may stand in the layout twice: that is one panel.
        if first is not owner and first.path != owner.path:
            panel = owner if isinstance(owner, Panel) else None
            yield Problem(f"{first.title!r} has the id {owner.id} too", panel, path=(*owner.path, "id"))


@rule(
    "duplicate-title",
    "warning",
    "Two panels of a row have one title",
    help="Say in the titles what is different.",
    why="One cannot be told from the other in a conversation, a link or a search.",
)
def duplicate_title(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    seen: set[tuple[tuple[str, ...], str]] = set()
    for panel in dashboard.panels:
        key = (panel.section, panel.title.strip())
        if key[1] and key in seen:
            yield Problem("another panel of this row has the same title", panel, path=(*panel.path, "title"))
        seen.add(key)


@rule(
    "grid-size",
    "error",
    "A panel does not fit the grid",
    help="Keep x and y at 0 or above, w and h above 0, and x + w at most 24.",
    why="Grafana moves or cuts such a panel, and the rest of the layout with it.",
)
def grid_size(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for owner in dashboard.rows_and_panels():
        panel = owner if isinstance(owner, Panel) else None
        wrong = _wrong_grid(owner.grid) if owner.grid else ""
        if panel and panel.needs_grid and panel.grid is None:
            wrong = "has no gridPos"
        if wrong:
            subject = "" if panel else f"the row {owner.title!r} "
            yield Problem(f"{subject}{wrong}", panel, path=(*owner.path, "gridPos"), section=owner.section)


def _wrong_grid(grid: Grid) -> str:
    if grid.w <= 0 or grid.h <= 0:
        return f"is {grid.w:g} wide and {grid.h:g} high"
    if grid.x < 0 or grid.y < 0:
        return f"stands at x {grid.x:g}, y {grid.y:g}"
    if grid.x + grid.w > _COLUMNS:
        return f"reaches column {grid.x + grid.w:g} of {_COLUMNS} (x {grid.x:g}, w {grid.w:g})"
    return ""


@rule(
    "grid-overlap",
    "error",
    "Two panels overlap",
    help="Move one of them.",
    why="Grafana pushes one of them down, and the layout differs from what was meant.",
)
def grid_overlap(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    groups: dict[str, list[_Placed]] = {}
    for owner in dashboard.rows_and_panels():
        if owner.grid is None or _wrong_grid(owner.grid) or (isinstance(owner, Row) and owner.nested):
            continue
        group = owner.group if isinstance(owner, Panel) else ""
        groups.setdefault(group, []).append((owner.grid, owner))
    for placed in groups.values():
        for first, second in _overlaps(placed):
            panel = second if isinstance(second, Panel) else None
            subject = "" if panel else f"the row {second.title!r} "
            kind = "panel" if isinstance(first, Panel) else "row"
            yield Problem(f"{subject}overlaps the {kind} {first.title!r}", panel, path=(*second.path, "gridPos"))


def _overlaps(placed: list[_Placed]) -> Iterator[tuple[Panel | Row, Panel | Row]]:
    """Whoever shares a cell with one above or left of it, and that one.

    One that overlaps is not held against those below: once it is moved, they may be right.
    """
    standing: list[_Placed] = []
    for grid, owner in sorted(placed, key=lambda one: (one[0].y, one[0].x)):
        standing = [(other, first) for other, first in standing if other.y + other.h > grid.y]
        beside = (first for other, first in standing if other.x < grid.x + grid.w and grid.x < other.x + other.w)
        hit = next(beside, None)
        if hit:
            yield hit, owner
        else:
            standing.append((grid, owner))


@rule(
    "nested-row",
    "error",
    "A row is inside a row",
    help="Put the inner row beside the outer one.",
    why="The classic schema has one level of rows: what is below is not drawn.",
)
def nested_row(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for row in dashboard.rows:
        if row.nested:
            message = f"the row {row.title!r} is inside the row {row.section[-1]!r}"
            yield Problem(message, path=row.path, section=row.section)


@rule(
    "layout-reference",
    "error",
    "Layout and elements of a v2 dashboard do not fit together",
    help="Put each element into the layout once, and take away what refers to none.",
    why="A reference to nothing breaks the dashboard; an element in no layout is never shown.",
)
def layout_reference(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for message, path in dashboard.broken_references:
        yield Problem(message, path=path)


@rule(
    "first-screen-queries",
    "warning",
    "A dashboard runs too many queries as it opens",
    help="Put what is not needed at first sight into a collapsed row, or raise `first_screen_queries`.",
    why="Everyone who opens the dashboard pays for all of them, again at each refresh; collapsed rows are free.",
)
def first_screen_queries(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    limit = context.limits.first_screen_queries
    shown = [panel for panel in dashboard.panels if panel.visible]
    count = sum(not query.hidden and query.reaches_a_datasource for panel in shown for query in panel.queries)
    if count > limit:
        yield Problem(f"{count} queries in panels that are not in a collapsed row; the limit is {limit}")


@rule(
    "broken-panel-link",
    "error",
    "A link leads to a panel that is not there",
    help="Correct the panel's id after viewPanel=.",
    why="Grafana answers with an empty page.",
)
def broken_panel_link(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    ids = {one.uid: {panel.id for panel in one.panels} for one in (*context.siblings, dashboard) if one.uid}
    owned = [(panel, link) for panel in dashboard.panels for link in panel.links]
    for panel, link in [*owned, *((None, link) for link in dashboard.links)]:
        match = _PANEL_LINK.search(link.url)
        if match and match["uid"] in ids and int(match["panel"]) not in ids[match["uid"]]:
            message = f"the dashboard {match['uid']!r} has no panel {match['panel']}"
            yield Problem(message, panel, path=link.path)
