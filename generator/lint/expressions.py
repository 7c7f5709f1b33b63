"""Every PromQL expression of a dashboard, parsed, with where it stands."""

from collections.abc import Iterator
from dataclasses import dataclass

from generator.lint.findings import JsonPath
from generator.lint.model import Dashboard, Panel, Query, Variable
from generator.lint.promql import Parsed, Selector, parse
from generator.lint.variable_query import parse_variable_query


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of a panel, of an annotation, or of a variable."""

    text: str
    parsed: Parsed
    path: JsonPath
    panel: Panel | None = None
    query: Query | None = None
    variable: Variable | None = None


def shown(dashboard: Dashboard) -> Iterator[Expression]:
    """The expressions of panels and annotations."""
    for panel, query in dashboard.queries():
        if query.language == "promql":
            yield Expression(query.text, parse(query.text), query.text_path, panel, query)


def offered(dashboard: Dashboard) -> Iterator[Expression]:
    """The expressions inside the queries of variables."""
    for variable in dashboard.variables:
        if variable.kind == "query" and variable.query.language == "promql":
            text = parse_variable_query(variable.query.text).expr
            if text:
                yield Expression(text, parse(text), variable.query.path, variable=variable)


def selectors(dashboard: Dashboard) -> Iterator[tuple[Expression, Selector]]:
    """The selectors of panels and annotations: of each expression those that differ."""
    for expression in shown(dashboard):
        for selector in dict.fromkeys(expression.parsed.selectors):
            yield expression, selector
