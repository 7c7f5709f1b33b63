"""The parts that look the same in Grafana's classic and v2 schema."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from generator.lint.fields import Fields, is_number
from generator.lint.findings import JsonPath
from generator.lint.model import Datasource, Display, Language, Link, Mention, Panel, Query
from generator.lint.templating import references, texts

DEEPEST_ROW = 20
"""Rows and tabs nested deeper than this are not read: Grafana draws one or two levels."""

WITHOUT_QUERIES = frozenset({"text", "row", "news", "dashlist", "alertlist", "annolist", "welcome"})
"""Types of panels that Grafana never runs queries for, whatever their JSON holds."""

_PROMETHEUS_FUNCTION = re.compile(r"\s*(label_values|label_names|metrics|query_result)\s*\(")

FILLED_IN: tuple[Language, ...] = ("promql", "traceql", "logql")
"""Languages in which every `$name` is a variable of Grafana's."""


def language_of(datasource_type: str, target: Fields) -> Language:
    """Which language a query is in, by its data source; by its fields if that is not known."""
    if "prometheus" in datasource_type:
        return "promql"
    known: dict[str, Language] = {"tempo": "traceql", "loki": "logql", "__expr__": "expression"}
    if datasource_type in known:
        return known[datasource_type]
    return "promql" if not datasource_type and "expr" in target.values else "other"


def variable_language(datasource_type: str, text: str) -> Language:
    """The language of a variable's query; with an unknown data source, by what the query looks like."""
    if "prometheus" in datasource_type or (not datasource_type and _PROMETHEUS_FUNCTION.match(text)):
        return "promql"
    return "other"


def query_text(language: Language, target: Fields) -> str:
    if language in ("promql", "logql"):
        return target.text("expr")
    return target.text("query") if language == "traceql" else ""


def needs_text(language: Language, target: Fields) -> bool:
    """Tempo and Loki have query types that are filled in as a form, without a text."""
    return language == "promql" or target.raw("queryType") in (None, "", "traceql", "range", "instant")


def display(options: Fields, field_config: Fields) -> Display:
    """How a panel shows its values; `options` and `field_config` have one shape in both schemas."""
    defaults = field_config.child("defaults")
    custom = defaults.child("custom")
    thresholds = defaults.child("thresholds")
    return Display(
        unit=defaults.text("unit"),
        display_name=defaults.text("displayName"),
        color_mode=defaults.child("color").text("mode"),
        thresholds=tuple(step.raw("value") for step in thresholds.children("steps")),
        thresholds_path=(*thresholds.path, "steps"),
        thresholds_style=custom.child("thresholdsStyle").text("mode"),
        cell_type=custom.child("cellOptions").text("type") or custom.text("displayMode"),
        has_mappings=bool(defaults.items("mappings")),
        overridden=_overridden(field_config),
        color_option=options.text("colorMode"),
        text_mode=options.text("textMode"),
        fields=options.child("reduceOptions").text("fields"),
        axis_unit=options.child("yAxis").text("unit"),
        show_markers=options.raw("showThresholdMarkers") is not False,
        legend_shown=options.child("legend").raw("showLegend") is not False,
    )


def _overridden(field_config: Fields) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for override in field_config.children("overrides"):
        for change in override.children("properties"):
            found.setdefault(change.text("id"), []).append(change.raw("value"))
    return found


def links_of(owner: Fields, key: str = "links") -> tuple[Link, ...]:
    return tuple(Link(link.text("url"), (*link.path, "url")) for link in owner.children(key))


def whole_number(fields: Fields, key: str) -> int | None:
    value = fields.number(key)
    return None if value is None else int(value)


def current_values(variable: Fields) -> tuple[str, ...]:
    """What is chosen as the dashboard opens."""
    value = variable.child("current").raw("value")
    return tuple(str(one) for one in (value if isinstance(value, list) else [value]) if is_choice(one))


def option_values(variable: Fields) -> tuple[str, ...]:
    values = [option.raw("value") for option in variable.children("options")]
    return tuple(str(value) for value in values if is_choice(value))


def is_choice(value: object) -> bool:
    """A value that a variable can take: not empty, and not Grafana's word for all of them."""
    return (isinstance(value, str) and value not in ("", "$__all")) or is_number(value)


def mentions_in(
    value: Any, place: str, path: JsonPath, panel: Panel | None = None, braced_only: bool = False
) -> Iterator[Mention]:
    for where, text in texts(value, path):
        for name in references(text, braced_only):
            yield Mention(name, place, where, panel)


def query_mentions(target: Any, query: Query, panel: Panel | None, place: str) -> Iterable[Mention]:
    """In an expression `$A` is a query; in SQL and the like a bare `$word` may be part of the language."""
    if query.language == "expression":
        return ()
    return mentions_in(target, place, query.path, panel, braced_only=query.language not in FILLED_IN)


def datasource_reference(value: Any, fields: Fields, key: str = "datasource") -> Datasource | None:
    """A data source as the classic schema writes it: a name, an object with type and uid, or null."""
    if isinstance(value, str):
        return Datasource("", value)
    if value is None:
        return None
    reference = fields.child(key)
    return Datasource(reference.text("type"), reference.text("uid"))


def resolved(reference: Datasource, plugins: dict[str, str]) -> Datasource:
    """With the type filled in where it is known only through a variable of `plugins`."""
    if reference.type:
        return reference
    for name in references(reference.uid):
        if name in plugins:
            return Datasource(plugins[name], reference.uid)
    return reference
