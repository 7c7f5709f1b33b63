"""Rules about variables: what is used is there, what is there is used, and its query is sound."""

from collections import Counter
from collections.abc import Iterator

from generator.lint.model import Dashboard, Variable
from generator.lint.promql import parse
from generator.lint.registry import Context, Problem, rule
from generator.lint.templating import is_builtin
from generator.lint.variable_query import parse_variable_query

_USED_BY_ITSELF = frozenset({"adhoc", "groupby"})
"""Kinds that Grafana puts into queries although no query names them."""


@rule(
    "unknown-variable",
    "error",
    "A variable is used that is not defined",
    help="Define the variable, or correct its name.",
    why="Grafana leaves an unknown $name as it is: the query matches nothing, the repeat does nothing.",
)
def unknown_variable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    defined = {variable.name for variable in dashboard.variables} | dashboard.inputs
    seen: set[tuple[object, str, str]] = set()
    for mention in dashboard.mentions:
        key = (mention.panel.path if mention.panel else "", mention.name, mention.place)
        if mention.name in defined or is_builtin(mention.name) or key in seen:
            continue
        seen.add(key)
        yield Problem(f"{mention.place} uses ${mention.name}, which is not defined", mention.panel, path=mention.path)


@rule(
    "unused-variable",
    "warning",
    "A variable is defined but not used",
    help="Use the variable in a query, or take it away.",
    why="Whoever chooses a value expects something to change.",
)
def unused_variable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    by_others = Counter(name for one in dashboard.variables for name in one.mentions - {one.name})
    for variable in dashboard.variables:
        used = variable.name in dashboard.used_names or by_others[variable.name] > 0
        if not used and variable.kind not in _USED_BY_ITSELF:
            yield Problem(f"nothing uses ${variable.name}", path=variable.path)


@rule(
    "duplicate-variable",
    "error",
    "Two variables have one name",
    help="Rename one of them, or take it away.",
    why="Only one of the two can be chosen; which one is not defined.",
)
def duplicate_variable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    seen: set[str] = set()
    for variable in dashboard.variables:
        if variable.name in seen:
            yield Problem(f"there is another variable named {variable.name!r}", path=variable.path)
        seen.add(variable.name)


@rule(
    "variable-cycle",
    "error",
    "Variables wait for each other",
    help="Take the variable out of its own query, or out of that of a variable it depends on.",
    why="Grafana fills variables in the order of their dependencies: in a circle none is ever filled.",
)
def variable_cycle(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    needs = {variable.name: variable.mentions for variable in dashboard.variables}
    done: set[str] = set()
    for variable in dashboard.variables:
        circle = _circle(variable.name, needs)
        if circle and not done.intersection(circle):
            done.update(circle)
            way = " → ".join(f"${name}" for name in (*circle, circle[0]))
            yield Problem(f"the variables depend on each other: {way}", path=variable.path)


def _circle(start: str, needs: dict[str, frozenset[str]]) -> list[str]:
    """The shortest way from a variable back to itself; empty if there is none."""
    came_from: dict[str, str] = {}
    ring = [start]
    while ring:
        following = []
        for name in ring:
            for needed in sorted(needs[name]):
                if needed == start:
                    return _way(start, name, came_from)
                if needed in needs and needed not in came_from:
                    came_from[needed] = name
                    following.append(needed)
        ring = following
    return []


def _way(start: str, last: str, came_from: dict[str, str]) -> list[str]:
    way = [last]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


@rule(
    "variable-query",
    "error",
    "A variable's query cannot work",
    help="Write label_values(metric, label), label_names(), metrics(regex) or query_result(expression).",
    why="The variable stays empty, and with it every panel that filters by it.",
)
def variable_query(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for variable in dashboard.variables:
        wrong = _wrong_query(variable) if variable.kind == "query" else ""
        if wrong:
            yield Problem(f"the query of ${variable.name}: {wrong}", path=variable.query.path)


def _wrong_query(variable: Variable) -> str:
    query = variable.query
    if query.language != "promql":
        return ""
    if not query.text.strip():
        return "it is empty"
    read = parse_variable_query(query.text)
    if read.error:
        return f"{read.error}: {query.text}"
    wrong = parse(read.expr).error if read.expr else ""
    return f"{wrong}: {read.expr}" if wrong else ""


@rule(
    "variable-refresh",
    "warning",
    "A variable does not follow the time range",
    help="Set `refresh` to 2, on time range change (in a v2 resource: onTimeRangeChanged).",
    why="It offers what existed when the dashboard was loaded, and misses what ran in the hours looked at.",
)
def variable_refresh(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for variable in dashboard.variables:
        if variable.kind == "query" and variable.query.language == "promql" and variable.refresh != 2:
            when = "only as the dashboard loads" if variable.refresh == 1 else "never again"
            yield Problem(f"the values of ${variable.name} are read {when}", path=variable.path)


@rule(
    "required-variable",
    "off",
    "There is no variable for a label that queries must filter by",
    help="Add a query variable of the label's name, or change `required_labels` in the configuration.",
    why="Grafana's own linter asks for $job and $instance. Off by default: it fits dashboards of one kind of "
    "target, and says nothing useful about those that follow a run, a trace or a cluster.",
)
def required_variable(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for label in context.limits.required_labels:
        if dashboard.variable(label) is None:
            yield Problem(f"no variable chooses the {label}", path=dashboard.path)
