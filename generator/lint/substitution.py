"""A query as Grafana would send it: macros and variables filled in with values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.lint.expansion import Place, expand
from generator.lint.model import Dashboard, Variable
from generator.lint.promql import parse_plain

Values = Mapping[str, str | Sequence[str]]
"""By variable: its value, written as it should stand in the query; or several, to be matched by `=~`."""

_ANY = "zz_grafana_any_zz"
_EQUALS_ANY = re.compile(rf"""(?<!!)=\s*("[^"]*{_ANY}[^"]*"|'[^']*{_ANY}[^']*')""")
_NAME_IS_ANY = re.compile(rf"""(\b__name__\s*=~\s*["']){_ANY}(?=["'])""")
_JAVASCRIPT_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
_UNKNOWN = "zz_grafana_unknown_zz"
_NO_ONE = "zz_nobody_has_this_value_zz"


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a query is asked about, and how densely."""

    end: float
    seconds: float = 3600.0
    step: float = 15.0
    scrape_interval: float = 15.0

    @property
    def start(self) -> float:
        return self.end - self.seconds

    @property
    def rate_interval(self) -> float:
        """What Grafana makes of $__rate_interval."""
        return max(self.step + self.scrape_interval, 4 * self.scrape_interval)


def fill_in(text: str, values: Values, window: Window) -> str:
    """The query with everything filled in. A variable without a value matches anything.

    Raises ValueError if a variable without a value stands where only its value tells what is meant.
    """
    unknown: list[str] = []

    def resolve(place: Place) -> str:
        if place.name.startswith("__"):
            return _macro(place, window)
        if place.name in values:
            return _value(values[place.name], place)
        if place.kind == "code":
            unknown.append(place.written)
        return _without_value(place)

    expanded = _matching_any(expand(text, resolve))
    if not unknown:
        return expanded
    as_number = expanded.replace(_UNKNOWN, "1")
    if parse_plain(as_number)[0] is None:
        raise ValueError(f"no value is known for {unknown[0]}")
    return as_number


def _matching_any(text: str) -> str:
    """What should equal anything is matched by a pattern; a name that is empty no Prometheus accepts."""
    text = _EQUALS_ANY.sub(r"=~\1", text)
    return _NAME_IS_ANY.sub(r"\1.+", text).replace(_ANY, ".*")


def values_of(dashboard: Dashboard) -> dict[str, str | Sequence[str]]:
    """What the variables of a dashboard stand at as it is written: not those that only a query could fill."""
    found: dict[str, str | Sequence[str]] = {}
    for variable in dashboard.variables:
        value = _written_value(variable)
        if value:
            found[variable.name] = value
    return found


def first_value(variable: Variable, names: Sequence[str]) -> str:
    """What a variable stands at when its query gives `names`; empty if that is All, or none of them.

    Raises ValueError if its regex is not one that Python knows.
    """
    if variable.include_all:
        return ""
    pattern = variable.regex.strip()
    if pattern.startswith("/"):
        pattern = pattern[1 : pattern.rfind("/")]
    try:
        compiled = re.compile(_JAVASCRIPT_GROUP.sub("(?P<", pattern))
    except re.error as fault:
        raise ValueError(f"the regex of ${variable.name} cannot be tried here: {fault}") from fault
    found = [match for match in map(compiled.search, names) if match]
    return next(filter(None, map(_picked, found)), "")


def _picked(match: "re.Match[str]") -> str:
    """As in Grafana: the group `value` if there is one, else the first group, else all of it."""
    if "value" in match.re.groupindex:
        return match["value"] or ""
    return (match[1] or "") if match.re.groups else match.string


def _written_value(variable: Variable) -> str:
    if variable.kind == "query":
        return variable.all_value
    choices = [*variable.current, *variable.options, *_listed(variable)]
    return next((choice for choice in choices if not choice.startswith("$__auto")), "")


def _listed(variable: Variable) -> list[str]:
    """The values that a custom, interval or constant variable lists in its query, as `text : value` or alone."""
    if variable.kind in ("custom", "interval"):
        return [one.rpartition(" : ")[2].strip() for one in variable.query.text.split(",")]
    return [variable.query.text] if variable.kind in ("constant", "textbox") else []


def _value(value: str | Sequence[str], place: Place) -> str:
    if isinstance(value, str):
        return value
    if place.kind != "string" or place.operator not in ("=~", "!~"):
        return value[0] if value else ""
    return f"({'|'.join(re.escape(one) for one in value)})"


def _without_value(place: Place) -> str:
    if place.kind == "duration":
        return "5m"
    if place.kind == "number":
        return "1"
    if place.kind == "code":
        return _UNKNOWN
    if place.operator in ("!=", "!~"):
        return _NO_ONE
    # Outside of matchers a word will do.
    return _ANY if place.operator else place.name


def _macro(place: Place, window: Window) -> str:
    seconds = {
        "__interval": window.step,
        "__rate_interval": window.rate_interval,
        "__range": window.seconds,
    }
    if place.name in seconds:
        return f"{seconds[place.name] * 1000:.0f}ms"
    if place.name.startswith("__auto_interval"):
        return f"{window.step * 1000:.0f}ms"
    base, _, unit = place.name.rpartition("_")
    if base in seconds and unit in ("s", "ms"):
        return f"{seconds[base] * (1000 if unit == 'ms' else 1):.0f}"
    if place.name in ("__from", "__to"):
        return _moment(window.start if place.name == "__from" else window.end, place)
    return "1" if place.kind == "code" else place.name


def _moment(seconds: float, place: Place) -> str:
    return f"{seconds:.0f}" if ":date:seconds" in place.written else f"{seconds * 1000:.0f}"
