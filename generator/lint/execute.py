"""Runs the queries of dashboards on a real Prometheus."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from generator.lint.model import Dashboard, Panel, Query, Variable
from generator.lint.prometheus import Prometheus, QueryError, Series
from generator.lint.promql import shortened
from generator.lint.registry import Problem, Rule
from generator.lint.rules_execution import QUERY_EMPTY, QUERY_FAILS, QUERY_NOT_RUN
from generator.lint.substitution import Values, Window, fill_in, first_value, values_of
from generator.lint.variable_query import VariableQuery, parse_variable_query

_AT_ONCE = 8
_MOST_POINTS = 10_000
"""Prometheus refuses a range query of more than 11,000 points."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What became of a query.

    `ok` has at least one series with a number in it; `empty` has none; `failed` was refused, for the reason in
    `detail`; `skipped` could not be asked.
    """

    status: Literal["ok", "empty", "failed", "skipped"]
    query: str
    """As it was sent."""
    series: tuple[Series, ...] = ()
    names: tuple[str, ...] = ()
    """Of a variable's query: the values that it offers."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Task:
    query: Query
    panel: Panel | None = None
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Live:
    """Where the queries of dashboards are run, about which time, and with which values of their variables."""

    prometheus: Prometheus
    window: Window
    values: Values = field(default_factory=dict)

    def problems(self, dashboard: Dashboard) -> Iterator[tuple[Rule, Problem]]:
        return execute_dashboard(dashboard, self.prometheus, self.window, self.values)


def execute(
    text: str, prometheus: Prometheus, window: Window, values: Values | None = None, instant: bool = False
) -> Executed:
    """Runs one query as Grafana would: over a window, or `instant` at its end."""
    try:
        query = fill_in(text, values or {}, window)
    except ValueError as fault:
        return Executed("skipped", text, detail=str(fault))
    step = max(window.step, window.seconds / _MOST_POINTS)
    try:
        if instant:
            series = prometheus.instant(query, window.end)
        else:
            series = prometheus.range(query, window.start, window.end, step)
    except QueryError as fault:
        return Executed("failed", query, detail=str(fault))
    if any(one.has_numbers for one in series):
        return Executed("ok", query, series)
    return Executed("empty", query, series, detail="it returns only NaN" if series else "")


def execute_variable(text: str, prometheus: Prometheus, window: Window, values: Values | None = None) -> Executed:
    """Runs the query of a variable: label_values(…) and the like."""
    asked = parse_variable_query(text)
    if asked.error:
        return Executed("failed", text, detail=asked.error)
    if asked.kind in ("query_result", "series"):
        return execute(asked.expr, prometheus, window, values, instant=True)
    try:
        expr = fill_in(asked.expr, values or {}, window)
        label = fill_in(asked.label, values or {}, window)
        names = _names(asked, expr, label, prometheus, window)
    except QueryError as fault:
        return Executed("failed", text, detail=str(fault))
    except ValueError as fault:
        return Executed("skipped", text, detail=str(fault))
    return Executed("ok" if names else "empty", text, names=tuple(names))


def _names(asked: VariableQuery, expr: str, label: str, prometheus: Prometheus, window: Window) -> list[str]:
    start, end = window.start, window.end
    if asked.kind == "label_names":
        return prometheus.label_names(expr, start, end)
    if asked.kind == "label_values":
        return prometheus.label_values(label, expr, start, end)
    try:
        pattern = re.compile(asked.pattern)
    except re.error as fault:
        raise ValueError(f"the pattern cannot be tried here: {fault}") from fault
    return [name for name in prometheus.label_values("__name__", "", start, end) if pattern.search(name)]


def execute_dashboard(
    dashboard: Dashboard, prometheus: Prometheus, window: Window, values: Values | None = None
) -> Iterator[tuple[Rule, Problem]]:
    """Runs every PromQL query of a dashboard: panels, annotations, variables. Gives what is wrong with them."""
    from concurrent.futures import ThreadPoolExecutor

    chosen = {**values_of(dashboard), **(values or {})}
    for variable in dashboard.variables:
        if variable.kind == "query" and _is_asked(variable.query):
            result = _choose(variable, chosen, prometheus, window)
            yield from _problems(_Task(variable.query, variable=variable.name), result)
    tasks = [_Task(query, panel) for panel, query in dashboard.queries() if _is_asked(query)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = pool.map(lambda one: execute(one.query.text, prometheus, window, chosen, one.query.instant), tasks)
        results = list(asked)
    for task, result in zip(tasks, results, strict=True):
        yield from _problems(task, result)


def _is_asked(query: Query) -> bool:
    return query.language == "promql" and bool(query.text.strip())


def _choose(
    variable: Variable, chosen: dict[str, str | Sequence[str]], prometheus: Prometheus, window: Window
) -> Executed:
    """Runs a variable's query, and adds to `chosen` the value that it then stands at."""
    result = execute_variable(variable.query.text, prometheus, window, chosen)
    if variable.name in chosen:
        return result
    try:
        value = first_value(variable, result.names)
    except ValueError as fault:
        return replace(result, status="skipped", detail=str(fault))
    if value:
        chosen[variable.name] = [value]
    return result


def _problems(task: _Task, result: Executed) -> Iterator[tuple[Rule, Problem]]:
    where = f"the query of ${task.variable}: " if task.variable else ""
    path = task.query.path if task.variable else task.query.text_path
    query = None if task.variable else task.query
    rules = {"failed": QUERY_FAILS, "empty": QUERY_EMPTY, "skipped": QUERY_NOT_RUN}
    if result.status in rules:
        reason = result.detail or "it returns nothing"
        message = f"{where}{reason}: {shortened(result.query)}"
        yield rules[result.status], Problem(message, task.panel, query, path)
