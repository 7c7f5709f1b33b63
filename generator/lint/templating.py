"""Grafana's variables in a text: `$name`, `${name}`, `${name.field:format}`, `[[name]]`."""

import re
from collections.abc import Iterator
from typing import Any

from generator.lint.findings import JsonPath

REFERENCE = re.compile(
    r"\$(?P<plain>[A-Za-z_]\w*)"
    r"|\$\{(?P<braced>[A-Za-z_]\w*)(?:\.[^:}]+)?(?::[^}]+)?\}"
    r"|\[\[(?P<square>[A-Za-z_]\w*)(?::\w+)?\]\]"
)
_NAMED_GROUP = re.compile(r"\(\?P?<(\w+)>")


def name_of(reference: "re.Match[str]") -> str:
    return reference["plain"] or reference["braced"] or reference["square"]


def references(text: str, braced_only: bool = False) -> Iterator[str]:
    """Names of the variables in a text, Grafana's own such as `__interval` among them.

    `braced_only` is for prose and foreign query languages, where a bare `$word` may mean something else.
    """
    if "$" not in text and "[[" not in text:
        return
    # In label_replace, "$name" may stand for a named group of the regular expression beside it.
    groups = set(_NAMED_GROUP.findall(text))
    for match in REFERENCE.finditer(text):
        name = name_of(match)
        if name not in groups and not (braced_only and match["braced"] is None):
            yield name


def is_builtin(name: str) -> bool:
    """Is it one that Grafana sets itself?"""
    return name.startswith("__") or name == "timeFilter"


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object inside a value, itself included; without recursion, like `texts`."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            yield found
            stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)


def names_in(value: Any) -> frozenset[str]:
    """Names of the variables in every text of a JSON value."""
    names: set[str] = set()
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str):
            names.update(references(found))
        elif isinstance(found, dict | list):
            stack.extend(found.values() if isinstance(found, dict) else found)
    return frozenset(names)


def texts(value: Any, path: JsonPath = ()) -> Iterator[tuple[JsonPath, str]]:
    """Every text inside a JSON value, with the way to it, in the document's order.

    Without recursion, so that no depth of nesting can break it.
    """
    stack: list[tuple[JsonPath, Any]] = [(path, value)]
    while stack:
        here, found = stack.pop()
        if isinstance(found, str):
            yield here, found
        elif isinstance(found, dict):
            stack.extend(((*here, str(key)), inside) for key, inside in reversed(found.items()))
        elif isinstance(found, list):
            stack.extend(((*here, at), inside) for at, inside in reversed(list(enumerate(found))))
