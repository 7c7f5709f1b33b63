"""Dashboard variables: what the drop-downs at the top choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from generator.classes import Template
from generator.queries import PROMETHEUS

_SORT = {"none": 0, "text": 1, "number": 3}
_ON_TIME_RANGE_CHANGE = 2


@dataclass(frozen=True, slots=True)
class Variable:
    """A drop-down, by the name that queries call it (`$name`).

    kind `datasource`: `query` is the data source's type. kind `query`: `query` is
    `label_values(metric{…}, label)`. kind `textbox`: `query` is its first text.

    `all_value` offers "All" and says what it stands for (`.*` also matches series without the
    label); `start` are the values that a query variable starts with, those that exist.
    """

    name: str
    label: str
    query: str
    kind: Literal["query", "datasource", "textbox"] = "query"
    multi: bool = False
    all_value: str | None = None
    start: Sequence[str] = ()
    sort: Literal["none", "text", "number"] = "text"

    def template(self) -> Template:
        """The variable as Grafana's JSON object."""
        return _TEMPLATES[self.kind](self)


def _query(variable: Variable) -> Template:
    # Grafana keeps of `current` the values that exist, and takes All or the first if none does.
    start = list(variable.start) or (["$__all"] if variable.all_value else [])
    text = list(variable.start) or ["All"]
    current: dict[str, Any] = {}
    if start:
        current = {"text": text, "value": start} if variable.multi else {"text": text[0], "value": start[0]}
    return Template(
        **_common(variable),
        dataSource=PROMETHEUS,
        query={"query": variable.query, "refId": f"variable-{variable.name}"},
        refresh=_ON_TIME_RANGE_CHANGE,
        regex="",
        sort=_SORT[variable.sort],
        multi=variable.multi,
        includeAll=variable.all_value is not None,
        allValue=variable.all_value,
    ).with_current(current)


def _datasource(variable: Variable) -> Template:
    template = Template(**_common(variable), type="datasource", query=variable.query, refresh=1, regex="")
    return template.with_current({})


def _textbox(variable: Variable) -> Template:
    text = variable.query
    return Template(
        **_common(variable),
        type="textbox",
        query=text,
        options=[{"text": text, "value": text, "selected": True}],
    ).with_current({"text": text, "value": text})


def _common(variable: Variable) -> dict[str, Any]:
    return {"name": variable.name, "label": variable.label}


_TEMPLATES = {"query": _query, "datasource": _datasource, "textbox": _textbox}
