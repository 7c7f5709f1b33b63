"""Puts something in place of the variables and macros of a PromQL text.

What fits depends on where a variable stands: inside a string, where a duration is expected, or in the
code around them. `expand` finds the places and asks its caller what to write there.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from generator.lint.templating import REFERENCE, name_of

_STRING_OR_COMMENT = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?P<comment>\#[^\n]*)""", re.DOTALL
)
_MATCHER = re.compile(r"(=~|!~|!=|=)\s*$")
_OFFSET = re.compile(r"\boffset\s*-?\s*$", re.IGNORECASE)
_UNIT = re.compile(r"(?:ms|[smhdwy])\b")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variable stands."""

    name: str
    written: str
    kind: Literal["string", "duration", "number", "code"]
    operator: str = ""
    """In a label's value: the matcher's operator."""
    whole: bool = False
    """In a string: is the variable all of it?"""


Resolve = Callable[[Place], str]


def expand(text: str, resolve: Resolve) -> str:
    """The text with each reference replaced by what `resolve` says.

    Strings in backticks come out in double quotes, since promql-parser reads escapes in both.
    """
    done: list[str] = []
    depth = 0
    at = 0
    for match in _STRING_OR_COMMENT.finditer(text):
        code, depth = _expand_code(text[at : match.start()], depth, resolve)
        done.append(code)
        if match["string"]:
            operator = _MATCHER.search(text[at : match.start()])
            done.append(_expand_string(match["string"], operator[1] if operator else "", resolve))
        at = match.end()
    code, _ = _expand_code(text[at:], depth, resolve)
    return "".join([*done, code])


def _expand_code(code: str, depth: int, resolve: Resolve) -> tuple[str, int]:
    """`code` expanded, and how many brackets are open after it; `depth` are open before."""
    done: list[str] = []
    at = 0
    for match in REFERENCE.finditer(code):
        before = code[at : match.start()]
        depth += before.count("[") - before.count("]")
        kind = _kind(code[: match.start()], code[match.end() :], depth)
        done += [before, resolve(Place(name_of(match), match[0], kind))]
        at = match.end()
    rest = code[at:]
    return "".join([*done, rest]), depth + rest.count("[") - rest.count("]")


def _kind(before: str, after: str, depth: int) -> Literal["duration", "number", "code"]:
    if _UNIT.match(after):
        return "number"
    return "duration" if depth > 0 or _OFFSET.search(before) else "code"


def _expand_string(string: str, operator: str, resolve: Resolve) -> str:
    quote, inside = string[0], string[1:-1]

    def replace(match: "re.Match[str]") -> str:
        whole = match[0] == inside
        value = resolve(Place(name_of(match), match[0], "string", operator, whole))
        return value if quote == "`" else _escaped(value, quote)

    expanded = REFERENCE.sub(replace, inside)
    return f'"{_escaped(expanded, chr(34))}"' if quote == "`" else f"{quote}{expanded}{quote}"


def _escaped(value: str, quote: str) -> str:
    return value.replace("\\", "\\\\").replace(quote, f"\\{quote}").replace("\n", "\\n")
