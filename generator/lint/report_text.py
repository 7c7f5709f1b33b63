"""The report for people: by dashboard and rule, what to do said once for each."""

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

from generator.lint.findings import Finding
from generator.lint.registry import RULES
from generator.lint.run import LintReport

MOST_LISTED = 10
"""Findings of one rule and dashboard that are listed: a hundred panels with one fault need one remedy."""

_COLORS = {"error": "31", "warning": "33"}


def to_text(report: LintReport, *, color: bool = False, width: int = 100) -> str:
    """The report for a terminal of `width` columns."""
    lines: list[str] = []
    for fault in report.unreadable:
        lines += _wrapped(f"{_painted('unreadable', '31', color)}  {printable(str(fault))}", width, "    ")
    if lines:
        lines.append("")
    for (file, dashboard), findings in groupby(report.findings, key=lambda one: (one.file, one.dashboard)):
        lines += _dashboard(file, dashboard, list(findings), color, width)
    return "\n".join([*lines, *_wrapped(_summary(report), width, "")]) + "\n"


def _dashboard(file: str, dashboard: str, findings: list[Finding], color: bool, width: int) -> Iterator[str]:
    name = printable(dashboard)
    where = f"{printable(file)}: " if file else ""
    yield _painted(f"{where}{name} ({_counts(findings)})", "1", color)
    for (severity, rule), group in groupby(findings, key=lambda one: (one.severity, one.rule)):
        yield ""
        yield f"  {_painted(severity, _COLORS[severity], color)}  {rule}: {RULES[rule].summary}"
        yield from _wrapped(RULES[rule].help, width, "    ", "    ")
        listed = list(group)
        for finding in listed[:MOST_LISTED]:
            yield from _wrapped(_line(finding), width, "        ", "      - ")
        if len(listed) > MOST_LISTED:
            yield f"      - and {len(listed) - MOST_LISTED} more (--format json lists all)"
    yield ""


def _line(finding: Finding) -> str:
    place = finding.place
    if finding.query and finding.panel:
        place += f", query {finding.query}"
    line = f" (line {finding.line})" if finding.line else ""
    return printable(f"{place}: {finding.message}{line}" if place else f"{finding.message}{line}")


def _wrapped(text: str, width: int, indent: str, first: str = "") -> list[str]:
    return textwrap.wrap(
        text, max(40, width), initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _summary(report: LintReport) -> str:
    dashboards = _number(len(report.dashboards), "dashboard")
    parts = [f"{dashboards}: {_counts(report.findings)}"]
    if report.unreadable:
        parts.append(f"{_number(len(report.unreadable), 'file')} could not be read")
    if report.excluded:
        parts.append(f"{_number(report.excluded, 'finding')} left out by the configuration")
    return "; ".join(parts) + "."


def _counts(findings: Iterable[Finding]) -> str:
    kinds = [finding.severity for finding in findings]
    counted = [_number(kinds.count(kind), kind) for kind in ("error", "warning") if kind in kinds]
    return ", ".join(counted) or "nothing to report"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _painted(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def printable(text: str) -> str:
    """Text of a stranger's dashboard, without what would steer a terminal or cannot be encoded."""
    return "".join(one if one.isprintable() else _shown(one) for one in text)


def _shown(character: str) -> str:
    return " " if character in "\n\r\t" else f"\\u{ord(character):04x}"
