"""Finds the dashboard in a JSON document and reads it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from generator.lint.fields import Fault, Fields, kind_of
from generator.lint.findings import JsonPath, LintInputError
from generator.lint.model import Dashboard
from generator.lint.read_classic import read_classic
from generator.lint.read_v2 import read_v2

_API = "dashboard.grafana.app/"
_MARKS = ("panels", "rows", "templating", "schemaVersion", "annotations")
"""A JSON object with one of these is taken for a classic dashboard."""


def read_dashboard(document: Any, file: str = "") -> Dashboard:
    """The dashboard in a parsed JSON document: classic, as the API wraps it, or a resource.

    Raises LintInputError if there is none.
    """
    if not isinstance(document, Mapping):
        raise LintInputError(f"holds {kind_of(document)}; a dashboard is a JSON object", file)
    faults: dict[JsonPath, Fault] = {}
    root = Fields(document, (), faults)
    api = document.get("apiVersion")
    if isinstance(api, str) and isinstance(document.get("spec"), dict):
        dashboard = _read_resource(root, api, file)
    elif isinstance(document.get("dashboard"), dict):
        dashboard = _read_inner(root.child("dashboard"), file)
    else:
        dashboard = _read_inner(root, file)
    return replace(dashboard, faults=tuple(faults.values()))


def _read_resource(root: Fields, api: str, file: str) -> Dashboard:
    if not api.startswith(_API):
        raise LintInputError(f"is a resource of {api[:80]}; a dashboard's apiVersion begins with {_API}", file)
    if api.removeprefix(_API).startswith("v2"):
        return read_v2(root, file)
    return read_classic(root.child("spec"), file, root.child("metadata").text("name"))


def _read_inner(root: Fields, file: str) -> Dashboard:
    if isinstance(root.raw("elements"), dict) and isinstance(root.raw("layout"), dict):
        raise LintInputError("is the spec of a v2 dashboard alone; give the whole resource, with apiVersion", file)
    if not any(mark in root.values for mark in _MARKS):
        raise LintInputError(f"is no Grafana dashboard: it has none of {', '.join(_MARKS)}", file)
    return read_classic(root, file)
