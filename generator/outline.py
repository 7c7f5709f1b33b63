"""A dashboard as text: rows, panels, units and queries, so that people see what it holds and what changed."""

from collections.abc import Iterator

from generator.fields import Json


def outline(dashboard: Json) -> str:
    """One line a variable, row and panel of a built dashboard, and one a query below its panel."""
    return "\n".join(_lines(dashboard)) + "\n"


def _lines(dashboard: Json) -> Iterator[str]:
    yield f"{dashboard['title']}: {dashboard['description']}"
    for variable in dashboard["templating"]["list"]:
        query = variable["query"]
        yield f"  ${variable['name']} = {query['query'] if isinstance(query, dict) else query}"
    for annotation in dashboard["annotations"]["list"]:
        yield f"  @{annotation['name']} = {annotation['expr']}"
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield ""
            yield f"{'▸' if panel['collapsed'] else '▾'} {panel['title']}{_repeated(panel)}"
            for inside in panel["panels"]:
                yield from _panel(inside)
        else:
            yield from _panel(panel)


def _panel(panel: Json) -> Iterator[str]:
    unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "")
    size = f"{panel['gridPos']['w']}x{panel['gridPos']['h']}"
    yield f"  {panel['title']}{_repeated(panel)} [{panel['type']}{', ' + unit if unit else ''}, {size}]"
    for target in panel.get("targets", ()):
        yield f"    {target['refId']}: {target.get('expr') or target.get('query')}"


def _repeated(panel: Json) -> str:
    return f" (for each ${panel['repeat']})" if panel.get("repeat") else ""
