"""Reads a dashboard in Grafana's classic schema: panels with a gridPos, rows among them or around them."""

from collections.abc import Iterator
from dataclasses import replace

from generator.lint.fields import Fault, Fields
from generator.lint.model import Dashboard, Datasource, Grid, Link, Mention, Panel, Query, Row, Variable
from generator.lint.read_parts import (
    DEEPEST_ROW,
    WITHOUT_QUERIES,
    current_values,
    datasource_reference,
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
from generator.lint.templating import names_in


def read_classic(root: Fields, file: str, uid: str = "") -> Dashboard:
    """The dashboard in `root`; `uid` is for one whose uid stands outside of it."""
    return _Reader(root).read(file, uid)


class _Reader:
    def __init__(self, root: Fields) -> None:
        self.root = root
        self.panels: list[Panel] = []
        self.rows: list[Row] = []
        self.mentions: list[Mention] = []
        self.plugins: dict[str, str] = {}

    def read(self, file: str, uid: str) -> Dashboard:
        root = self.root
        templating = root.child("templating").children("list")
        # Types of data source variables come first: queries are understood through them.
        self.plugins = {v.text("name"): v.text("query") for v in templating if v.text("type") == "datasource"}
        variables = tuple(self._variable(fields) for fields in templating)
        annotations = tuple(self._annotations())
        self._panels()
        self.mentions += mentions_in(root.raw("links"), "a link", (*root.path, "links"))
        outside = {key: value for key, value in root.values.items() if key != "templating"}
        repeats = {panel.repeat for panel in self.panels} | {row.repeat for row in self.rows}
        return Dashboard(
            file=file,
            schema="classic",
            uid=root.text("uid") or uid,
            title=root.text("title"),
            path=root.path,
            editable=root.raw("editable") is not False,
            panels=tuple(self.panels),
            rows=tuple(self.rows),
            variables=variables,
            annotations=annotations,
            links=links_of(root),
            mentions=tuple(self.mentions),
            used_names=names_in(outside) | repeats,
            inputs=frozenset(fields.text("name") for fields in root.children("__inputs")),
        )

    def _variable(self, fields: Fields) -> Variable:
        kind, name = fields.text("type"), fields.text("name")
        inner = fields.raw("query")
        text = fields.child("query").text("query") if isinstance(inner, dict) else fields.text("query")
        reference = datasource_reference(fields.raw("datasource"), fields) or Datasource()
        datasource = resolved(reference, self.plugins)
        language = variable_language(datasource.type, text) if kind == "query" else "other"
        query = Query(text, language, datasource, (*fields.path, "query"))
        if kind == "query":
            place = f"the variable {name}"
            self.mentions += mentions_in(inner, place, query.path)
            self.mentions += mentions_in(fields.raw("datasource"), place, (*fields.path, "datasource"))
        refresh = fields.raw("refresh")
        return Variable(
            name=name,
            kind=kind,
            path=fields.path,
            query=query,
            refresh=refresh if isinstance(refresh, int) else 0,
            include_all=fields.flag("includeAll"),
            all_value=fields.text("allValue"),
            regex=fields.text("regex"),
            current=current_values(fields),
            options=option_values(fields),
            mentions=names_in([inner, fields.raw("datasource"), fields.raw("regex")]),
        )

    def _annotations(self) -> Iterator[Query]:
        for fields in self.root.child("annotations").children("list"):
            if fields.raw("builtIn"):
                continue
            reference = datasource_reference(fields.raw("datasource"), fields) or Datasource()
            # Most data sources keep the query of an annotation in an object of its own; Prometheus does not.
            target = fields.child("target") if "expr" not in fields.values and "target" in fields.values else fields
            name = f"the annotation {fields.text('name')}"
            query = self._query(target, resolved(reference, self.plugins), name)
            self.mentions += query_mentions(fields.values, replace(query, path=fields.path), None, name)
            # `hide` hides the switch of an annotation, not the annotation.
            yield replace(query, hidden=False)

    def _panels(self) -> None:
        """Walks panels and rows of any depth with a list of what is left, not by recursion."""
        current: Row | None = None
        left: list[tuple[Fields, tuple[str, ...], str, bool]] = []
        left += [(fields, (), "", True) for fields in reversed(self._top())]
        while left:
            fields, section, group, visible = left.pop()
            nested = group != ""
            if _is_row(fields):
                row = self._row(fields, section, nested)
                if not nested:
                    current = None if row.collapsed else row
                inside = self._inside(fields, len(section))
                shown = visible and not row.collapsed
                left += [(one, (*section, row.title), str(row.path), shown) for one in reversed(inside)]
                continue
            around = section if nested or current is None else (current.title,)
            self._panel(fields, around, group, visible)

    def _top(self) -> list[Fields]:
        """Panels and rows in the order in which Grafana lays them out, on which membership of a row depends."""
        old_rows = self.root.children("rows")
        panels = self.root.children("panels")
        if all(panel.raw("gridPos") is not None for panel in panels):
            panels.sort(key=lambda panel: _top_left(panel.child("gridPos")))
        return old_rows + panels

    def _inside(self, row: Fields, depth: int) -> list[Fields]:
        inside = row.children("panels")
        if inside and depth >= DEEPEST_ROW:
            path = (*row.path, "panels")
            self.root.faults[path] = Fault(path, f"rows nested at most {DEEPEST_ROW} deep", "more")
            return []
        return inside

    def _row(self, fields: Fields, section: tuple[str, ...], nested: bool) -> Row:
        old = "type" not in fields.values
        row = Row(
            title=fields.text("title"),
            path=fields.path,
            section=section,
            collapsed=fields.flag("collapse" if old else "collapsed"),
            id=whole_number(fields, "id"),
            repeat=fields.text("repeat"),
            grid=_grid(fields),
            nested=nested,
        )
        self.rows.append(row)
        self.mentions += mentions_in(row.title, "a row's title", (*row.path, "title"))
        self.mentions += _repeat_mention(row.repeat, fields, None)
        return row

    def _panel(self, fields: Fields, section: tuple[str, ...], group: str, visible: bool) -> None:
        reference = datasource_reference(fields.raw("datasource"), fields)
        targets = [(t, self._target_query(t, reference)) for t in fields.children("targets")]
        defaults = fields.child("fieldConfig").child("defaults")
        kind = fields.text("type")
        panel = Panel(
            id=whole_number(fields, "id"),
            title=fields.text("title"),
            description=fields.text("description"),
            type=kind,
            path=fields.path,
            section=section,
            group=group,
            visible=visible,
            grid=_grid(fields),
            needs_grid="span" not in fields.values,
            queries=() if kind in WITHOUT_QUERIES else tuple(query for _, query in targets),
            display=display(fields.child("options"), fields.child("fieldConfig")),
            repeat=fields.text("repeat"),
            max_data_points=fields.number("maxDataPoints"),
            library=fields.raw("libraryPanel") is not None,
            links=(*links_of(fields), *links_of(defaults)),
        )
        self.panels.append(panel)
        self.mentions += _panel_mentions(fields, panel)
        for target, query in targets:
            self.mentions += query_mentions(target.values, query, panel, f"query {query.ref_id}")

    def _target_query(self, target: Fields, of_panel: Datasource | None) -> Query:
        own = datasource_reference(target.raw("datasource"), target)
        return self._query(target, resolved(own or of_panel or Datasource(), self.plugins), target.text("refId"))

    def _query(self, target: Fields, datasource: Datasource, ref_id: str) -> Query:
        language = language_of(datasource.type, target)
        text = query_text(language, target)
        if not text and not needs_text(language, target):
            language = "other"
        return Query(
            text=text,
            language=language,
            datasource=datasource,
            path=target.path,
            ref_id=ref_id,
            legend=target.text("legendFormat"),
            format=target.text("format"),
            instant=target.flag("instant"),
            hidden=target.flag("hide"),
        )


def _panel_mentions(fields: Fields, panel: Panel) -> Iterator[Mention]:
    path = fields.path
    yield from mentions_in(panel.title, "the title", (*path, "title"), panel)
    yield from mentions_in(panel.description, "the description", (*path, "description"), panel, True)
    yield from mentions_in(fields.raw("datasource"), "the data source", (*path, "datasource"), panel)
    yield from mentions_in(fields.raw("links"), "a link", (*path, "links"), panel)
    yield from _repeat_mention(panel.repeat, fields, panel)
    if panel.type == "text":
        content = fields.child("options").raw("content")
        yield from mentions_in(content, "the text", (*path, "options", "content"), panel, True)
    links: tuple[Link, ...] = panel.links
    for link in links:
        if link.path[: len(path) + 1] != (*path, "links"):
            yield from mentions_in(link.url, "a data link", link.path, panel)


def _repeat_mention(name: str, fields: Fields, panel: Panel | None) -> Iterator[Mention]:
    if name:
        yield Mention(name, "repeat", (*fields.path, "repeat"), panel)


def _is_row(fields: Fields) -> bool:
    """Before Grafana 5 rows had no type and stood in a list of their own."""
    return fields.raw("type") == "row" or ("type" not in fields.values and "panels" in fields.values)


def _grid(fields: Fields) -> Grid | None:
    if fields.raw("gridPos") is None:
        return None
    place = fields.child("gridPos")
    numbers = [place.number(key) for key in ("x", "y", "w", "h")]
    # Grafana reads a coordinate that is missing as 0.
    x, y, w, h = (0.0 if number is None else number for number in numbers)
    return Grid(x, y, w, h)


def _top_left(place: Fields) -> tuple[float, float]:
    return place.number("y") or 0.0, place.number("x") or 0.0
