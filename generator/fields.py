"""How values are shown: thresholds, value mappings, overrides and links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

GREEN, ORANGE, RED, GREY = "green", "orange", "red", "text"


@dataclass(frozen=True, slots=True)
class Threshold:
    """From `value` up, `color`; the first one starts at None, which is minus infinity."""

    value: float | None
    color: str


def limits(
    above: tuple[float | None, float | None] | None = None,
    below: tuple[float | None, float | None] | None = None,
) -> tuple[Threshold, ...]:
    """Green, orange past a warning limit, red past a critical one.

    `above` and `below` are (warning, critical) in the panel's unit; None where not known.
    """
    steps = []
    start = GREEN
    warning, critical = below or (None, None)
    if critical is not None:
        steps.append((critical, GREEN if warning is None else ORANGE))
        start = RED
    if warning is not None:
        steps.append((warning, GREEN))
        start = RED if critical is not None else ORANGE
    warning, critical = above or (None, None)
    if warning is not None:
        steps.append((warning, ORANGE))
    if critical is not None:
        steps.append((critical, RED))
    return (Threshold(None, start), *(Threshold(value, color) for value, color in steps))


def plain(color: str = GREEN) -> tuple[Threshold, ...]:
    """One colour whatever the value."""
    return (Threshold(None, color),)


def value_text(texts: dict[str, tuple[str, str]]) -> Json:
    """Shows exact values as words: `{"1": ("yes", GREEN)}`."""
    return {
        "type": "value",
        "options": {
            value: {"text": text, "color": color, "index": index}
            for index, (value, (text, color)) in enumerate(texts.items())
        },
    }


def range_text(start: float | None, end: float | None, text: str, color: str) -> Json:
    """Shows every value from `start` to `end` (None: without bound) as a word."""
    return {
        "type": "range",
        "options": {"from": start, "to": end, "result": {"text": text, "color": color}},
    }


def special_text(match: str, text: str, color: str) -> Json:
    """Shows `nan`, `null` or `null+nan` as a word."""
    return {"type": "special", "options": {"match": match, "result": {"text": text, "color": color}}}


def color_by_regex(colors: Iterable[tuple[str, str]]) -> list[Json]:
    """Colours text values by pattern, the first that matches: pairs of a regex and a colour."""
    return [
        {"type": "regex", "options": {"pattern": pattern, "result": {"color": color, "index": index}}}
        for index, (pattern, color) in enumerate(colors)
    ]


def override(pattern: str, **properties: Any) -> Json:
    """Sets properties of the series or columns whose name matches the regex `pattern`.

    A property is a Grafana id with `__` for a dot (`custom__lineWidth=2`, `unit="s"`).
    """
    return _override("byRegexp", f"/{pattern}/", properties)


def column(name: str, **properties: Any) -> Json:
    """The same for the one column of that name."""
    return _override("byName", name, properties)


def text_columns(**properties: Any) -> Json:
    """The same for all columns of text."""
    return _override("byType", "string", properties)


def fixed_color(color: str) -> Json:
    return {"mode": "fixed", "fixedColor": color}


def _override(matcher: str, options: str, properties: dict[str, Any]) -> Json:
    return {
        "matcher": {"id": matcher, "options": options},
        "properties": [{"id": key.replace("__", "."), "value": value} for key, value in properties.items()],
    }


@dataclass(frozen=True, slots=True)
class PanelLink:
    """Leads to the panel that explains this one, for the same time and the same run."""

    section: str
    panel: str


@dataclass(frozen=True, slots=True)
class WebLink:
    """Leads to a page outside the dashboard."""

    title: str
    url: str


Link = PanelLink | WebLink
Links = Sequence[Link]
