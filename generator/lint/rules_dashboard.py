"""Rules about a dashboard as a whole: its identity, its data sources, its JSON."""

import re
from collections.abc import Iterator

from generator.lint.findings import dotted
from generator.lint.model import Dashboard
from generator.lint.registry import Context, Problem, rule
from generator.lint.templating import references

_UID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TEMPLATED = {"prometheus": "promql", "tempo": "traceql", "loki": "logql"}


@rule(
    "json-shape",
    "error",
    "A field has a type that Grafana does not expect",
    help="Correct the field, or take it away: Grafana then uses its default.",
    why="Grafana drops such a field or fails to load the dashboard, and the other rules cannot see it.",
)
def json_shape(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for fault in dashboard.faults:
        yield Problem(f"{dotted(fault.path)} should be {fault.expected}, but is {fault.found}", path=fault.path)


@rule(
    "dashboard-title",
    "error",
    "A dashboard has no title",
    help="Set `title`.",
    why="Grafana refuses to save a dashboard without one.",
)
def dashboard_title(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if not dashboard.title.strip():
        yield Problem("the dashboard has no title", path=dashboard.path)


@rule(
    "dashboard-uid",
    "warning",
    "A dashboard has no usable uid",
    help="Set `uid` (in a resource: `metadata.name`) to at most 40 letters, digits, - and _.",
    why="Without a uid Grafana makes one up at each import, and links to the dashboard break.",
)
def dashboard_uid(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if not dashboard.uid:
        yield Problem("the dashboard has no uid", path=dashboard.path)
    elif not _UID.fullmatch(dashboard.uid):
        yield Problem(f"Grafana does not accept the uid {dashboard.uid!r}", path=(*dashboard.path, "uid"))


@rule(
    "duplicate-uid",
    "error",
    "Two files hold dashboards of one uid",
    help="Give each dashboard a uid of its own.",
    why="The one that is loaded last replaces the other, without a word.",
)
def duplicate_uid(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if not dashboard.uid:
        return
    first = next((other for other in context.siblings if other.uid == dashboard.uid), dashboard)
    if first is not dashboard:
        path = (*dashboard.path, "uid") if dashboard.schema == "classic" else ("metadata", "name")
        yield Problem(f"{first.file} has the uid {dashboard.uid!r} too", path=path)


@rule(
    "editable",
    "off",
    "A dashboard can be edited in Grafana",
    help="Set `editable` to false.",
    why="What someone changes by hand in a dashboard that comes from a file is lost with the next update. "
    "Off by default: it is for whoever provisions a dashboard to decide.",
)
def editable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if dashboard.editable:
        yield Problem("the dashboard is editable", path=(*dashboard.path, "editable"))


@rule(
    "datasource-variable",
    "error",
    "There is no variable to choose the data source",
    help="Add a variable of type datasource for that plugin, and refer to it as ${name} in each query.",
    why="A fixed data source exists in one Grafana only; elsewhere every panel is an error.",
)
def datasource_variable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    used = {query.language for _, query in dashboard.queries()}
    offered = {variable.query.text for variable in dashboard.variables if variable.kind == "datasource"}
    for plugin, language in _TEMPLATED.items():
        if language in used and not any(plugin in one for one in offered):
            yield Problem(f"no variable chooses the {plugin} data source", path=dashboard.path)


@rule(
    "datasource",
    "error",
    "A query names its data source instead of using a variable",
    help="Set the data source's uid to a variable of type datasource, such as ${datasource}.",
    why="A name or uid that is fixed fits one Grafana only; the default data source may be another one tomorrow.",
)
def datasource(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    seen: set[tuple[object, str]] = set()
    for panel, query in dashboard.queries():
        wrong = _wrong_datasource(dashboard, query.datasource.uid) if query.reaches_a_datasource else ""
        where = panel.path if panel else query.path
        if wrong and (where, wrong) not in seen:
            seen.add((where, wrong))
            place = "" if panel else f"{query.ref_id}: "
            yield Problem(f"{place}{wrong}", panel, path=query.path)
    for variable in dashboard.variables:
        wrong = _wrong_datasource(dashboard, variable.query.datasource.uid) if variable.kind == "query" else ""
        if wrong:
            yield Problem(f"the variable {variable.name}: {wrong}", path=variable.path)


def _wrong_datasource(dashboard: Dashboard, uid: str) -> str:
    names = list(references(uid))
    if not uid:
        return "uses the default data source"
    if not names:
        return f"uses the data source {uid!r}"
    if names[0] in dashboard.inputs:
        return f"uses ${{{names[0]}}}, which is filled in at an import by hand but not by file provisioning"
    variable = dashboard.variable(names[0])
    if variable and variable.kind != "datasource":
        return f"uses ${{{names[0]}}}, which is no data source variable"
    return ""
