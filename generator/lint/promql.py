"""PromQL as Grafana holds it: parsed with macros and variables in it, and its selectors in their context.

promql-parser knows no `$`, so each reference is replaced by something of the kind that fits there, chosen
so that it can be recognised afterwards: durations no one writes, and marked identifiers.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from itertools import product
from typing import Any, Literal

from generator.lint.expansion import Place, expand

MAX_OPERATORS = 500
"""More operators and brackets than this in one query are not parsed.

promql-parser recurses without a limit: some thousands nested in each other would end the process.
"""

_DURATIONS = {
    "__rate_interval": 61_007,
    "__interval": 15_013,
    "__range": 3_600_019,
}
_NUMBERS = frozenset(
    {"__interval_ms", "__rate_interval_ms", "__range_ms", "__range_s", "__from", "__to", "__org", "__user"}
)
_TEXTS = frozenset({"__dashboard", "__name", "__timezone", "__all_variables"})
_VARIABLE_DURATION = 700_000
"""A variable's duration in ms is this and its number: nobody writes 11m40.003s."""
_MARK = re.compile(r"zz_grafana_(\d+)_zz")
_TRIED = ("zz_grafana_{}_zz", "1", "avg_over_time", "sum")
"""What a variable outside strings and brackets may be: a name, a number, a function, an aggregation."""
_MAX_TRIED = 3
_OPERATORS = re.compile(r"[-+*/%^(\[]|[<>=!]=?|\b(?:and|or|unless)\b")
_STRINGS = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Matcher:
    """`label op "value"`, the value as its author wrote it."""

    label: str
    operator: str
    value: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Something that encloses a selector."""

    kind: Literal["range", "subquery", "call", "aggregate"]
    name: str
    """Of a call or aggregation: its function. Of a range or subquery: how long, as its author wrote it."""
    keeps: tuple[str, ...] | None = None
    """Of an aggregation: the labels after `by`; None with `without`."""


@dataclass(frozen=True, slots=True)
class Selector:
    """One selector of a query."""

    name: str
    """The metric; empty if it is chosen by a pattern or not at all."""
    matchers: tuple[Matcher, ...]
    frames: tuple[Frame, ...]
    """What encloses it, innermost first."""

    @property
    def pattern(self) -> str:
        """The regular expression on the metric's name, if it is chosen so."""
        return next((m.value for m in self.matchers if m.label == "__name__" and m.operator == "=~"), "")

    def calls(self) -> list[str]:
        """The functions and aggregations around it, innermost first."""
        return [frame.name for frame in self.frames if frame.kind in ("call", "aggregate")]

    def label(self) -> str:
        """How to name it in a sentence."""
        matchers = ",".join(f'{m.label}{m.operator}"{m.value}"' for m in self.matchers)
        return self.name or shortened(f"{{{matchers}}}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query that was read, or why it could not be."""

    selectors: tuple[Selector, ...] = ()
    error: str = ""


@dataclass(slots=True)
class _Marks:
    """What stands for which reference."""

    written: list[str] = field(default_factory=list)
    durations: dict[int, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def mark(self, written: str) -> str:
        return f"zz_grafana_{self._number(written)}_zz"

    def duration(self, written: str, milliseconds: int | None) -> str:
        chosen = milliseconds or _VARIABLE_DURATION + self._number(written)
        self.durations[chosen] = written
        return f"{chosen}ms"

    def restore(self, text: str) -> str:
        return _MARK.sub(lambda mark: self.written[int(mark[1])], text)

    def restore_duration(self, found: timedelta) -> str:
        milliseconds = round(found.total_seconds() * 1000)
        return self.durations.get(milliseconds) or _short(milliseconds)

    def _number(self, written: str) -> int:
        if written not in self.written:
            self.written.append(written)
        return self.written.index(written)


@lru_cache(maxsize=8192)
def parse(text: str) -> Parsed:
    """Parses PromQL with Grafana's macros and variables in it. Never raises: what is wrong is in `error`."""
    if not text.strip():
        return Parsed(error="the query is empty")
    marks = _Marks()
    names: list[str] = []
    expanded = expand(text, lambda place: _fill(place, marks, names))
    if marks.unknown:
        return Parsed(error=f"Grafana has no macro {marks.unknown[0]}")
    if _operators(expanded) > MAX_OPERATORS:
        return Parsed(error=f"more than {MAX_OPERATORS} operators and brackets; split the query")
    tree, error = first_parsable(expanded, names)
    if tree is None:
        return Parsed(error=marks.restore(error))
    return Parsed(selectors=tuple(_selectors(tree, marks)))


def first_parsable(expanded: str, marks: list[str]) -> tuple[Any, str]:
    """The tree of a text in which each of `marks` may have to be a name, a number or a function.

    The error is that of the first try, where all are names.
    """
    first_error = ""
    tries = len(_TRIED) if 0 < len(marks) <= _MAX_TRIED else 1
    for chosen in product(_TRIED[:tries], repeat=len(marks)):
        candidate = expanded
        for mark, instead in zip(marks, chosen, strict=True):
            candidate = candidate.replace(mark, mark if instead == _TRIED[0] else instead)
        tree, error = parse_plain(candidate)
        if tree is not None:
            return tree, ""
        first_error = first_error or error
    return None, first_error


def parse_plain(text: str) -> tuple[Any, str]:
    """The tree of PromQL without Grafana's additions, or promql-parser's words on why there is none."""
    import promql_parser

    try:
        return promql_parser.parse(text), ""
    except ValueError as fault:
        return None, str(fault)


def _fill(place: Place, marks: _Marks, names: list[str]) -> str:
    if place.name.startswith("__"):
        return _macro(place, marks)
    if place.kind == "duration":
        return marks.duration(place.written, None)
    if place.kind == "number":
        return "1"
    mark = marks.mark(place.written)
    if place.kind == "code" and mark not in names:
        names.append(mark)
    return mark


def _macro(place: Place, marks: _Marks) -> str:
    if place.kind == "string":
        return marks.mark(place.written)
    if place.name in _DURATIONS:
        return marks.duration(place.written, _DURATIONS[place.name])
    if place.name.startswith("__auto_interval_"):
        return marks.duration(place.written, None)
    if place.name in _NUMBERS:
        return "1"
    if place.name in _TEXTS:
        return marks.mark(place.written)
    marks.unknown.append(place.written)
    return "1"


def _operators(expanded: str) -> int:
    """How deep a tree may become: matchers, which stand side by side, do not count."""
    return len(_OPERATORS.findall(_BRACES.sub("", _STRINGS.sub("", expanded))))


def _selectors(tree: Any, marks: _Marks) -> Iterator[Selector]:
    """The selectors of a tree, left to right; without recursion."""
    stack: list[tuple[Any, tuple[Frame, ...]]] = [(tree, ())]
    while stack:
        node, frames = stack.pop()
        kind = type(node).__name__
        if kind == "VectorSelector":
            yield _selector(node, frames, marks)
        elif kind in _CHILDREN:
            inside, frame = _CHILDREN[kind](node, marks)
            around = (frame, *frames) if frame else frames
            stack.extend((child, around) for child in reversed(inside))


def _selector(node: Any, frames: tuple[Frame, ...], marks: _Marks) -> Selector:
    found = list(node.matchers.matchers)
    for alternative in node.matchers.or_matchers:
        found += alternative
    matchers = tuple(_matcher(matcher, marks) for matcher in found)
    exact = next((m.value for m in matchers if m.label == "__name__" and m.operator == "="), "")
    return Selector(marks.restore(node.name or exact), matchers, frames)


def _matcher(matcher: Any, marks: _Marks) -> Matcher:
    operator = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}[str(matcher.op).rsplit(".", 1)[-1]]
    return Matcher(marks.restore(matcher.name), operator, marks.restore(matcher.value))


def _aggregate(node: Any, marks: _Marks) -> tuple[list[Any], Frame]:
    # The operator's type tells nothing in Python, but the text begins with it.
    name = re.match(r"\w+", node.prettify())
    modifier = node.modifier
    keeps: tuple[str, ...] | None = ()
    if modifier is not None:
        by = str(modifier.type).endswith("By")
        keeps = tuple(marks.restore(label) for label in modifier.labels) if by else None
    children = [node.expr] if node.param is None else [node.param, node.expr]
    return children, Frame("aggregate", name[0] if name else "", keeps)


def _subquery(node: Any, marks: _Marks) -> tuple[list[Any], Frame]:
    return [node.expr], Frame("subquery", marks.restore_duration(node.range))


def _range(node: Any, marks: _Marks) -> tuple[list[Any], Frame]:
    return [node.vector_selector], Frame("range", marks.restore_duration(node.range))


_CHILDREN: dict[str, Callable[[Any, _Marks], tuple[list[Any], Frame | None]]] = {
    "AggregateExpr": _aggregate,
    "SubqueryExpr": _subquery,
    "MatrixSelector": _range,
    "Call": lambda node, marks: (list(node.args), Frame("call", node.func.name)),
    "BinaryExpr": lambda node, marks: ([node.lhs, node.rhs], None),
    "UnaryExpr": lambda node, marks: ([node.expr], None),
    "ParenExpr": lambda node, marks: ([node.expr], None),
}


def _short(milliseconds: int) -> str:
    """A duration as people write it: 300000 is `5m`."""
    text = ""
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, length)
        text += f"{count}{unit}" if count else ""
    return text


def shortened(text: str, width: int = 160) -> str:
    """A query on one line, and not much more than that."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
