"""Reads a dashboard resource in Grafana's v2 schema: elements, and a layout that refers to them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from generator.lint.fields import Fault, Fields
from generator.lint.findings import JsonPath
from generator.lint.model import Dashboard, Datasource, Grid, Mention, Panel, Query, Row, Variable
from generator.lint.read_parts import (
    DEEPEST_ROW,
    WITHOUT_QUERIES,
    current_values,
    display,
    language_of,
    links_of,
    mentions_in,
    needs_text,
    option_values,
    query_mentions,
    query_text,
    resolved,
    variable_language,
    whole_number,
)
from generator.lint.templating import names_in, objects

_VARIABLE_KINDS = {
    "QueryVariable": "query",
    "DatasourceVariable": "datasource",
    "CustomVariable": "custom",
    "IntervalVariable": "interval",
    "ConstantVariable": "constant",
    "TextVariable": "textbox",
    "AdhocVariable": "adhoc",
    "GroupByVariable": "groupby",
    "SwitchVariable": "switch",
}
_REFRESH = {"onDashboardLoad": 1, "onTimeRangeChanged": 2}


@dataclass(frozen=True, slots=True)
class _Spot:
    """A layout, row or item on the way, and what it inherits."""

    fields: Fields
    section: tuple[str, ...] = ()
    visible: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the layout puts an element."""

    element: str
    path: JsonPath
    section: tuple[str, ...]
    visible: bool
    group: str
    grid: Grid | None
    repeat: str


def read_v2(root: Fields, file: str) -> Dashboard:
    """The dashboard in a resource of `dashboard.grafana.app/v2…`."""
    return _Reader(root).read(file)


class _Reader:
    def __init__(self, root: Fields) -> None:
        self.root = root
        self.spec = root.child("spec")
        self.rows: list[Row] = []
        self.definitions = self.spec.children("variables")
        self.mentions: list[Mention] = []
        self.plugins: dict[str, str] = {}
        self.broken: list[tuple[str, JsonPath]] = []

    def read(self, file: str) -> Dashboard:
        spec = self.spec
        places = list(self._places())
        inside = [(fields, fields.child("spec")) for fields in self.definitions]
        self.plugins = {
            spec.text("name"): spec.text("pluginId")
            for kind, spec in inside
            if kind.raw("kind") == "DatasourceVariable"
        }
        variables = tuple(self._variable(kind.text("kind"), spec) for kind, spec in inside)
        annotations = tuple(self._annotations())
        panels = tuple(self._panels(places))
        self.mentions += mentions_in(spec.raw("links"), "a link", (*spec.path, "links"))
        outside = {key: value for key, value in spec.values.items() if key != "variables"}
        return Dashboard(
            file=file,
            schema="v2",
            uid=self.root.child("metadata").text("name"),
            title=spec.text("title"),
            path=self.root.path,
            editable=spec.raw("editable") is not False,
            panels=panels,
            rows=tuple(self.rows),
            variables=variables,
            annotations=annotations,
            links=links_of(spec),
            mentions=tuple(self.mentions),
            used_names=names_in(outside) | self._named(),
            broken_references=tuple(self.broken),
        )

    def _named(self) -> set[str]:
        """Variables that the layout refers to by their bare name: repeats, and conditions for being shown."""
        names: set[str] = set()
        for found in objects(self.spec.raw("layout")):
            repeat = found.get("repeat")
            for name in (found.get("variable"), repeat.get("value") if isinstance(repeat, dict) else None):
                if isinstance(name, str):
                    names.add(name)
        return names

    def _places(self) -> Iterator[_Place]:
        """Walks the layouts with a list of what is left, not by recursion."""
        left = [_Spot(self.spec.child("layout"))]
        while left:
            spot = left.pop()
            inside = spot.fields.child("spec")
            if len(spot.section) > DEEPEST_ROW:
                fault = Fault(inside.path, f"rows and tabs nested at most {DEEPEST_ROW} deep", "more")
                self.root.faults[inside.path] = fault
                continue
            groups = inside.children("rows") + inside.children("tabs")
            left += reversed([self._enter(group, spot, at) for at, group in enumerate(groups)])
            for item in inside.children("items"):
                yield from self._item(item, spot, str(spot.fields.path))

    def _enter(self, group: Fields, spot: _Spot, at: int) -> _Spot:
        """Into a row or a tab; of the tabs only the first is open."""
        inside = group.child("spec")
        is_tab = group.raw("kind") == "TabsLayoutTab"
        row = self._row(inside, spot, collapsed=(is_tab and at > 0) or inside.flag("collapse"))
        self.definitions += inside.children("variables")
        return _Spot(inside.child("layout"), (*spot.section, row.title), spot.visible and not row.collapsed)

    def _row(self, inside: Fields, spot: _Spot, collapsed: bool) -> Row:
        repeat = inside.child("repeat").text("value")
        row = Row(inside.text("title"), inside.path, spot.section, collapsed, repeat=repeat)
        self.rows.append(row)
        self.mentions += mentions_in(row.title, "a row's title", (*row.path, "title"))
        if repeat:
            self.mentions.append(Mention(repeat, "repeat", (*row.path, "repeat")))
        return row

    def _item(self, item: Fields, spot: _Spot, group: str) -> Iterator[_Place]:
        inside = item.child("spec")
        if item.raw("kind") == "GridLayoutRow":
            row = self._row(inside, spot, inside.flag("collapsed"))
            below = _Spot(inside, (*spot.section, row.title), spot.visible and not row.collapsed)
            for element in inside.children("elements"):
                if element.raw("kind") != "GridLayoutRow":
                    yield from self._item(element, below, str(inside.path))
            return
        grid = _grid(inside) if item.raw("kind") == "GridLayoutItem" else None
        name = inside.child("element").text("name")
        repeat = inside.child("repeat").text("value")
        yield _Place(name, inside.path, spot.section, spot.visible, group, grid, repeat)

    def _panels(self, places: list[_Place]) -> Iterator[Panel]:
        elements = self.spec.entries("elements")
        placed = {place.element for place in places}
        for place in places:
            found = elements.get(place.element)
            if found:
                yield self._panel(found, place)
            else:
                self.broken.append((f"the layout refers to {place.element!r}, which is no element", place.path))
        for key, fields in elements.items():
            if key not in placed:
                self.broken.append((f"the element {key!r} is in no layout, so it is never shown", fields.path))

    def _panel(self, element: Fields, place: _Place) -> Panel:
        spec = element.child("spec")
        config = spec.child("vizConfig")
        look = config.child("spec")
        kind = config.text("group") or config.text("kind")
        group = spec.child("data").child("spec")
        queries = [self._panel_query(fields.child("spec")) for fields in group.children("queries")]
        panel = Panel(
            id=whole_number(spec, "id"),
            title=spec.text("title"),
            description=spec.text("description"),
            type=kind,
            path=spec.path,
            section=place.section,
            group=place.group,
            visible=place.visible,
            grid=place.grid,
            queries=() if kind in WITHOUT_QUERIES else tuple(query for query, _ in queries),
            display=display(look.child("options"), look.child("fieldConfig")),
            repeat=place.repeat,
            max_data_points=group.child("queryOptions").number("maxDataPoints"),
            library=element.raw("kind") == "LibraryPanel",
            links=(*links_of(spec), *links_of(look.child("fieldConfig").child("defaults"))),
        )
        self.mentions += _panel_mentions(spec, panel, place)
        for query, fields in queries:
            self.mentions += query_mentions(fields.values, query, panel, f"query {query.ref_id}")
        return panel

    def _panel_query(self, fields: Fields) -> tuple[Query, Fields]:
        query, inside = self._query(fields.child("query"), fields, fields.text("refId"))
        return replace(query, hidden=fields.flag("hidden")), inside

    def _query(self, fields: Fields, owner: Fields, ref_id: str) -> tuple[Query, Fields]:
        """A DataQuery, and the object with its text. In v2alpha1 the data source stands beside it, in `owner`."""
        plugin = fields.text("group") or fields.text("kind")
        beside = owner.child("datasource")
        uid = fields.child("datasource").text("name") or beside.text("uid")
        datasource = resolved(Datasource("" if plugin == "DataQuery" else plugin, uid), self.plugins)
        inside = fields.child("spec")
        language = language_of(datasource.type, inside)
        text = query_text(language, inside)
        if not text and not needs_text(language, inside):
            language = "other"
        query = Query(
            text=text,
            language=language,
            datasource=datasource,
            path=inside.path,
            ref_id=ref_id,
            legend=inside.text("legendFormat"),
            format=inside.text("format"),
            instant=inside.flag("instant"),
        )
        return query, inside

    def _variable(self, kind: str, spec: Fields) -> Variable:
        name = spec.text("name")
        text = spec.raw("pluginId" if kind == "DatasourceVariable" else "query")
        query = Query("", "other", Datasource(), (*spec.path, "query"))
        if kind == "QueryVariable":
            query, inside = self._query(spec.child("query"), spec, "")
            text = inside.text("query") or inside.text("__legacyStringValue")
            query = replace(query, text=text, language=variable_language(query.datasource.type, text))
            self.mentions += mentions_in(inside.values, f"the variable {name}", query.path)
        elif isinstance(text, str):
            query = replace(query, text=text)
        return Variable(
            name=name,
            kind=_VARIABLE_KINDS.get(kind, kind),
            path=spec.path,
            query=query,
            refresh=_REFRESH.get(spec.text("refresh"), 0),
            include_all=spec.flag("includeAll"),
            all_value=spec.text("allValue"),
            regex=spec.text("regex"),
            current=current_values(spec),
            options=option_values(spec),
            mentions=names_in([text, query.datasource.uid, spec.raw("regex")]),
        )

    def _annotations(self) -> Iterator[Query]:
        for fields in self.spec.children("annotations"):
            spec = fields.child("spec")
            if spec.raw("builtIn"):
                continue
            name = f"the annotation {spec.text('name')}"
            query, inside = self._query(spec.child("query"), spec, name)
            self.mentions += query_mentions(inside.values, query, None, name)
            yield query


def _panel_mentions(spec: Fields, panel: Panel, place: _Place) -> Iterator[Mention]:
    path = spec.path
    yield from mentions_in(panel.title, "the title", (*path, "title"), panel)
    yield from mentions_in(panel.description, "the description", (*path, "description"), panel, True)
    for link in panel.links:
        yield from mentions_in(link.url, "a link", link.path, panel)
    for query in panel.queries:
        yield from mentions_in(query.datasource.uid, "the data source", query.path, panel)
    if place.repeat:
        yield Mention(place.repeat, "repeat", (*place.path, "repeat"), panel)


def _grid(inside: Fields) -> Grid:
    numbers = [inside.number(key) for key in ("x", "y", "width", "height")]
    x, y, w, h = (0.0 if number is None else number for number in numbers)
    return Grid(x, y, w, h)
