"""The PromQL of a built dashboard, by panel, ready to be run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dashboards_src.dashboards import FOLDER
from generator.sources import chosen, discover


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of a panel, of an annotation (whose title is the panel) or of a variable."""

    section: str
    panel: str
    ref: str
    expr: str
    instant: bool

    def __str__(self) -> str:
        return f"{self.section} / {self.panel} / {self.ref}"


def built(name: str) -> dict[str, Any]:
    return chosen(discover(FOLDER), [name])[0].build()


def asked(dashboard: dict[str, Any]) -> Iterator[Asked]:
    """Every PromQL query of the panels."""
    section = ""
    for outer in dashboard["panels"]:
        section = outer["title"] if outer["type"] == "row" else section
        for panel in (outer, *outer.get("panels", ())):
            for target in panel.get("targets", ()):
                if "expr" in target:
                    yield Asked(section, panel["title"], target["refId"], target["expr"], target["instant"])
