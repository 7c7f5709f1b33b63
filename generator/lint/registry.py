"""The rules: each a function, with what people need to know about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from generator.lint.findings import JsonPath, Level
from generator.lint.known import KnownMetrics
from generator.lint.model import Dashboard, Panel, Query


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule found in one dashboard."""

    message: str
    panel: Panel | None = None
    query: Query | None = None
    path: JsonPath = ()
    section: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers and lists that a project may set in its configuration."""

    first_screen_queries: int = 15
    required_labels: tuple[str, ...] = ("job", "instance")


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may ask about besides the dashboard."""

    known: KnownMetrics | None = None
    limits: Limits = field(default_factory=Limits)
    siblings: tuple[Dashboard, ...] = ()
    """All dashboards linted together, this one included."""


Check = Callable[[Dashboard, Context], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`summary` says what is wrong, `help` what to do, `why` what goes wrong otherwise."""

    id: str
    level: Level
    summary: str
    help: str
    why: str
    needs_known: bool = False
    check: Check | None = None
    """None for what is found only by executing queries."""


RULES: dict[str, Rule] = {}
_AnyCheck = TypeVar("_AnyCheck", bound=Check)


def rule(id: str, level: Level, summary: str, **texts: Any) -> Callable[[_AnyCheck], _AnyCheck]:
    """Registers a check. Raises ValueError for an id that is taken."""

    def register(check: _AnyCheck) -> _AnyCheck:
        add(Rule(id, level, summary, check=check, **texts))
        return check

    return register


def add(one: Rule) -> None:
    if one.id in RULES:
        raise ValueError(f"two rules have the id {one.id}")
    RULES[one.id] = one
