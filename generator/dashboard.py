"""Dashboards and their sections, and how they become Grafana's JSON. Pure: no clock, no network, no disk."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import attr
from grafanalib import core

from generator import classes
from generator.errors import BuildError
from generator.fields import Json, PanelLink
from generator.layout import Place, flow
from generator.panel import Panel
from generator.queries import PROMETHEUS
from generator.variables import Variable


@dataclass(frozen=True, slots=True)
class Section:
    """A row of a dashboard with its panels and the variables that they need.

    A collapsed section costs no query until it is opened. `repeat` is the variable for each
    value of which the section stands once.
    """

    title: str
    panels: Sequence[Panel]
    variables: Sequence[Variable] = ()
    collapsed: bool = True
    repeat: str | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """Marks moments on graphs: each sample of the PromQL query `expr` is one.

    `panels` are the (section, panel) titles of the graphs that show it; all do if none is named.
    """

    name: str
    expr: str
    title: str
    text: str = ""
    tags: Sequence[str] = ()
    color: str = "blue"
    step: str = "15s"
    panels: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class DashboardLinks:
    """A menu of all dashboards that carry `tag`, which keeps the time and the chosen run."""

    title: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """A dashboard: its `name` is its uid, its title and its file name."""

    name: str
    description: str
    sections: Sequence[Section]
    variables: Sequence[Variable]
    annotations: Sequence[Annotation] = ()
    links: Sequence[DashboardLinks] = ()
    tags: Sequence[str] = ()
    time_from: str = "now-1h"
    refresh: str = "30s"

    def build(self) -> Json:
        """The dashboard as Grafana's classic JSON.

        Raises BuildError with the dashboard, the section and the panel that is at fault.
        """
        if not self.name or len(self.name) > 40:
            raise BuildError(f"dashboard {self.name!r}: a name is a uid too, which Grafana holds to 40 characters")
        self._check_titles()
        panels, top = [], 0
        for section in self.sections:
            built, top = self._section(section, top)
            panels += built
        self._check_ids(panels)
        dashboard = classes.Dashboard(
            title=self.name,
            uid=self.name,
            description=self.description,
            panels=panels,
            tags=list(self.tags),
            refresh=self.refresh,
            time=core.Time(self.time_from, "now"),
            timezone="browser",
            graphTooltip=core.GRAPH_TOOLTIP_MODE_SHARED_CROSSHAIR,
            templating=core.Templating([variable.template() for variable in self.all_variables()]),
            annotations=core.Annotations([_annotation(each) for each in self.annotations]),
            links=[_menu(each) for each in self.links],
        )
        plain: Json = _plain(dashboard)
        return plain

    def all_variables(self) -> list[Variable]:
        """The dashboard's own variables, then those of its sections, each once."""
        found: dict[str, Variable] = {}
        for variable in (*self.variables, *(v for section in self.sections for v in section.variables)):
            if found.setdefault(variable.name, variable) != variable:
                raise BuildError(
                    f"dashboard {self.name}: the variable {variable.name!r} is declared twice and "
                    "differently; give one of them another name"
                )
        return list(found.values())

    def _section(self, section: Section, top: int) -> tuple[list[Any], int]:
        """The section's row and panels as grafanalib objects, and the first free line below them."""
        place = Place(0, top, 24, 1)
        inside: list[Any] = []
        bottom = top + 1
        places = flow(((panel.width, panel.height) for panel in section.panels), top + 1)
        for panel in section.panels:
            try:
                stands = next(places)
                inside.append(self._panel(section, panel, stands))
            except (ValueError, TypeError) as fault:
                raise BuildError(f"{self._where(section, panel)}: {fault}") from fault
            bottom = max(bottom, stands.y + stands.h)
        row = classes.RowPanel(
            title=section.title,
            id=stable_id(section.title),
            gridPos=place,
            collapsed=section.collapsed,
            panels=inside if section.collapsed else [],
            repeat=core.Repeat(variable=section.repeat),
        )
        # A collapsed row takes one line: what it holds appears below it when it is opened.
        return ([row], top + 1) if section.collapsed else ([row, *inside], bottom)

    def _panel(self, section: Section, panel: Panel, place: Place) -> Any:
        body = attr.evolve(panel.body, id=stable_id(section.title, panel.title), gridPos=place)
        links = [self._link(link) if isinstance(link, PanelLink) else _web_link(link) for link in panel.links]
        if not links:
            return body
        if not panel.is_tile:
            return attr.evolve(body, links=links)
        # A tile is clicked as a whole; on a graph such a link would hide behind its points.
        config = body.extraJson["fieldConfig"]
        linked = config | {"defaults": config["defaults"] | {"links": links}}
        return attr.evolve(body, extraJson=body.extraJson | {"fieldConfig": linked})

    def _link(self, link: PanelLink) -> Json:
        if not any(
            section.title == link.section and panel.title == link.panel
            for section in self.sections
            for panel in section.panels
        ):
            raise ValueError(f"links to {link.panel!r} of {link.section!r}, which this dashboard lacks")
        kept = "&".join(f"${{{variable.name}:queryparam}}" for variable in self.all_variables())
        panel_id = stable_id(link.section, link.panel)
        return {
            "title": f"Open: {link.panel}",
            "url": f"/d/{self.name}?viewPanel={panel_id}&${{__url_time_range}}&{kept}",
            "targetBlank": False,
        }

    def _check_titles(self) -> None:
        seen: set[tuple[str, str]] = set()
        for section in self.sections:
            for panel in section.panels:
                if not panel.title:
                    raise BuildError(f"dashboard {self.name}, section {section.title!r}: a panel has no title")
                if (section.title, panel.title) in seen:
                    raise BuildError(f"{self._where(section, panel)}: another panel there has that title")
                seen.add((section.title, panel.title))

    def _check_ids(self, panels: Iterable[Any]) -> None:
        seen: dict[int, str] = {}
        for panel in (each for outer in panels for each in (outer, *getattr(outer, "panels", ()))):
            if panel.id in seen:
                raise BuildError(
                    f"dashboard {self.name}: {panel.title!r} and {seen[panel.id]!r} come to the same id; "
                    "give one of them another title"
                )
            seen[panel.id] = panel.title

    def _where(self, section: Section, panel: Panel) -> str:
        return f"dashboard {self.name}, section {section.title!r}, panel {panel.title!r}"


def stable_id(*names: str) -> int:
    """A panel id that depends on where the panel belongs and on nothing else, so that links last."""
    return zlib.crc32("\x1f".join(names).encode()) >> 1 or 1


def _web_link(link: Any) -> Json:
    return {"title": link.title, "url": link.url, "targetBlank": True}


def _menu(links: DashboardLinks) -> Any:
    return core.DashboardLink(
        title=links.title,
        tags=[links.tag],
        type="dashboards",
        asDropdown=True,
        keepTime=True,
        includeVars=True,
    )


def _annotation(annotation: Annotation) -> Json:
    ids = [stable_id(section, panel) for section, panel in annotation.panels]
    return {
        **({"filter": {"exclude": False, "ids": ids}} if ids else {}),
        "name": annotation.name,
        "datasource": PROMETHEUS,
        "enable": True,
        "hide": False,
        "iconColor": annotation.color,
        "expr": annotation.expr,
        "titleFormat": annotation.title,
        "textFormat": annotation.text,
        "tagKeys": ",".join(annotation.tags),
        "step": annotation.step,
    }


def _plain(value: Any) -> Any:
    """grafanalib's objects and ours as dictionaries, lists and values."""
    if hasattr(value, "to_json_data"):
        return _plain(value.to_json_data())
    if isinstance(value, Place):
        return {"x": value.x, "y": value.y, "w": value.w, "h": value.h}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
