"""Prometheus queries of variables: `label_values(metric, label)` and the like."""

import re
from dataclasses import dataclass
from typing import Literal

_LABEL = r"[A-Za-z_$][\w$:{}.\[\]]*"
_LABEL_VALUES = re.compile(rf"label_values\(\s*(?:(?P<expr>.+),\s*)?(?P<label>{_LABEL})\s*\)", re.DOTALL)
_LABEL_NAMES = re.compile(r"label_names\(\s*(?P<expr>.*?)\s*\)", re.DOTALL)
_METRICS = re.compile(r"metrics\(\s*(?P<pattern>.*?)\s*\)", re.DOTALL)
_QUERY_RESULT = re.compile(r"query_result\(\s*(?P<expr>.+?)\s*\)", re.DOTALL)
_CALL = re.compile(r"(?P<name>[A-Za-z_]\w*)\(")


@dataclass(frozen=True, slots=True)
class VariableQuery:
    """What a variable asks Prometheus for."""

    kind: Literal["label_values", "label_names", "metrics", "query_result", "series"]
    expr: str = ""
    """The selector or query; empty where it asks about all series."""
    label: str = ""
    pattern: str = ""
    error: str = ""


def parse_variable_query(text: str) -> VariableQuery:
    """Reads a variable's query as Grafana does. What it cannot be is in `error`."""
    text = text.strip()
    if match := _LABEL_VALUES.fullmatch(text):
        return VariableQuery("label_values", (match["expr"] or "").strip(), match["label"])
    if match := _LABEL_NAMES.fullmatch(text):
        return VariableQuery("label_names", match["expr"])
    if match := _METRICS.fullmatch(text):
        return VariableQuery("metrics", pattern=match["pattern"])
    if match := _QUERY_RESULT.fullmatch(text):
        return VariableQuery("query_result", match["expr"])
    if match := _CALL.match(text):
        return VariableQuery("series", error=_wrong_call(match["name"]))
    # Grafana takes anything else for a selector of series.
    return VariableQuery("series", text)


def _wrong_call(name: str) -> str:
    if name in ("label_values", "label_names", "metrics", "query_result"):
        return f"{name} is not written as Grafana expects"
    return f"{name} is no function of a variable's query; to use PromQL, write query_result(…)"
