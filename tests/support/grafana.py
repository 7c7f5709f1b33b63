"""Puts values in place of a query's variables as Grafana does for Prometheus's data source."""

import re
from collections.abc import Mapping, Sequence

ALL = ".*"
"""What a variable with All chosen stands for on our dashboards; it goes in as it is."""

Values = Mapping[str, str | Sequence[str]]

_MACROS = {"__rate_interval": "60s", "__interval": "15s", "__range": "3600s", "__range_s": "3600"}
_REFERENCE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
_SPECIAL = re.compile(r"[\\^$*+?.()|[\]{}/-]")


def interpolate(expr: str, values: Values) -> str:
    """The query that reaches Prometheus. Raises KeyError for a variable that has no value."""

    def value(match: "re.Match[str]") -> str:
        name = match[1] or match[2]
        if name.isdigit():
            return match[0]  # a group of label_replace's
        return _MACROS[name] if name in _MACROS else regex(values[name])

    return _REFERENCE.sub(value, expr)


def regex(value: str | Sequence[str]) -> str:
    """A chosen value, or several, as they stand in `=~"…"`: escaped for the regex and for the string."""
    if isinstance(value, str):
        return value if value == ALL else _escaped(value)
    escaped = [_escaped(each) for each in value]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def _escaped(value: str) -> str:
    return _SPECIAL.sub(lambda match: "\\\\" + match[0], value)
