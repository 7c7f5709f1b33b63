"""Typed access to JSON that nobody vouches for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generator.lint.findings import JsonPath


@dataclass(frozen=True, slots=True)
class Fault:
    """A field whose type is not what Grafana expects."""

    path: JsonPath
    expected: str
    found: str


class Fields:
    """One JSON object of a dashboard.

    A field that is absent or null reads as empty, as it does in Grafana. A field of another type reads as
    empty too, but is put down in `faults`, which all objects of one dashboard share.
    """

    __slots__ = ("faults", "path", "values")

    def __init__(self, values: Mapping[str, Any], path: JsonPath, faults: dict[JsonPath, Fault]) -> None:
        self.values = values
        self.path = path
        self.faults = faults

    def raw(self, key: str) -> Any:
        return self.values.get(key)

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if isinstance(value, str):
            return value
        self._blame(key, "a text")
        return ""

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if isinstance(value, int | float) and is_number(value):
            return float(value)
        self._blame(key, "a number")
        return None

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if isinstance(value, bool):
            return value
        self._blame(key, "true or false")
        return False

    def child(self, key: str) -> "Fields":
        value = self.values.get(key)
        if not isinstance(value, dict):
            self._blame(key, "an object")
            value = {}
        return Fields(value, (*self.path, key), self.faults)

    def items(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if isinstance(value, list):
            return value
        self._blame(key, "a list")
        return []

    def children(self, key: str) -> list["Fields"]:
        """The objects of a list; what is no object in it is a fault."""
        found = []
        for position, value in enumerate(self.items(key)):
            path = (*self.path, key, position)
            if isinstance(value, dict):
                found.append(Fields(value, path, self.faults))
            else:
                self.faults[path] = Fault(path, "an object", kind_of(value))
        return found

    def entries(self, key: str) -> dict[str, "Fields"]:
        """The objects of an object, by key; what is no object in it is a fault."""
        inside = self.child(key)
        return {name: inside.child(name) for name in inside.values}

    def _blame(self, key: str, expected: str) -> None:
        value = self.values.get(key)
        if value is not None:
            path = (*self.path, key)
            self.faults[path] = Fault(path, expected, kind_of(value))


def is_number(value: object) -> bool:
    """A finite JSON number: a bool is an int in Python, but none in Grafana."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) < 10**300
    return isinstance(value, float) and math.isfinite(value)


def kind_of(value: object) -> str:
    """The JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
