"""What the rules see of a dashboard, whichever schema it was written in."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from generator.lint.fields import Fault
from generator.lint.findings import JsonPath

Language = Literal["promql", "traceql", "logql", "expression", "other"]


@dataclass(frozen=True, slots=True)
class Datasource:
    """A reference to a data source: its plugin and its uid, which may be a variable. Empty is the default."""

    type: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel, an annotation or a variable."""

    text: str
    language: Language
    datasource: Datasource
    path: JsonPath
    ref_id: str = ""
    legend: str = ""
    format: str = ""
    instant: bool = False
    hidden: bool = False

    @property
    def text_path(self) -> JsonPath:
        """Where its text stands."""
        return (*self.path, "query" if self.language == "traceql" else "expr")

    @property
    def reaches_a_datasource(self) -> bool:
        """False for what Grafana answers itself: expressions, the result of another panel, test data."""
        return self.language != "expression" and self.datasource.uid not in BUILT_IN_DATASOURCES


BUILT_IN_DATASOURCES = frozenset({"grafana", "-- Grafana --", "-- Dashboard --", "__expr__", "-- Mixed --"})


@dataclass(frozen=True, slots=True)
class Grid:
    """Where a panel stands: columns of 24, rows of 30 pixels."""

    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class Display:
    """How a panel shows its values; what an override sets is in `overridden`, by property."""

    unit: str = ""
    display_name: str = ""
    color_mode: str = ""
    thresholds: tuple[Any, ...] = ()
    """The values of the threshold steps as they are in the JSON: numbers, or null for the base."""
    thresholds_path: JsonPath = ()
    thresholds_style: str = ""
    cell_type: str = ""
    has_mappings: bool = False
    overridden: dict[str, list[Any]] = field(default_factory=dict)
    color_option: str = ""
    text_mode: str = ""
    fields: str = ""
    axis_unit: str = ""
    show_markers: bool = True
    legend_shown: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel, wherever it is nested."""

    id: int | None
    title: str
    description: str
    type: str
    path: JsonPath
    section: tuple[str, ...] = ()
    """Titles of the rows and tabs it is in, outermost first."""
    group: str = ""
    """Panels of one group share a grid."""
    visible: bool = True
    """Is it drawn, and so queried, as the dashboard opens?"""
    grid: Grid | None = None
    needs_grid: bool = False
    queries: tuple[Query, ...] = ()
    display: Display = field(default_factory=Display)
    repeat: str = ""
    max_data_points: float | None = None
    library: bool = False
    links: tuple["Link", ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row or tab."""

    title: str
    path: JsonPath
    section: tuple[str, ...] = ()
    collapsed: bool = False
    id: int | None = None
    repeat: str = ""
    grid: Grid | None = None
    nested: bool = False
    """A row inside a row, in the schema that has no such thing."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a dashboard, a panel or a field."""

    url: str
    path: JsonPath


@dataclass(frozen=True, slots=True)
class Variable:
    """A template variable."""

    name: str
    kind: str
    """As in the classic schema: query, datasource, custom, interval, constant, textbox, adhoc, …"""
    path: JsonPath
    query: Query
    refresh: int = 0
    """0 never, 1 when the dashboard loads, 2 when the time range changes."""
    include_all: bool = False
    """Can All be chosen? Else it stands at the first of its values."""
    all_value: str = ""
    regex: str = ""
    """What picks values out of those that the query gives; may stand between slashes."""
    current: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    mentions: frozenset[str] = frozenset()
    """Names of the variables in its own definition."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable's name, used in a place where Grafana would fill it in."""

    name: str
    place: str
    path: JsonPath
    panel: Panel | None = None


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard as the rules see it."""

    file: str
    schema: Literal["classic", "v2"]
    uid: str
    title: str
    path: JsonPath
    editable: bool
    panels: tuple[Panel, ...]
    rows: tuple[Row, ...]
    variables: tuple[Variable, ...]
    annotations: tuple[Query, ...]
    links: tuple[Link, ...]
    mentions: tuple[Mention, ...]
    used_names: frozenset[str]
    """Variables named anywhere but in the definitions of variables."""
    inputs: frozenset[str] = frozenset()
    """Names that Grafana asks for as the dashboard is imported by hand."""
    broken_references: tuple[tuple[str, JsonPath], ...] = ()
    """What is wrong between a v2 layout and its elements."""
    faults: tuple[Fault, ...] = ()

    @property
    def name(self) -> str:
        return self.title or self.uid or "(untitled)"

    def variable(self, name: str) -> Variable | None:
        return next((variable for variable in self.variables if variable.name == name), None)

    def rows_and_panels(self) -> "Iterator[Row | Panel]":
        yield from self.rows
        yield from self.panels

    def queries(self) -> Iterator[tuple[Panel | None, Query]]:
        """Every query of panels and annotations."""
        for panel in self.panels:
            for query in panel.queries:
                yield panel, query
        for query in self.annotations:
            yield None, query
