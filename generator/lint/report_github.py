"""The report as workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from generator.lint.findings import Finding, LintInputError
from generator.lint.report_text import printable
from generator.lint.run import LintReport


def to_github(report: LintReport) -> str:
    """One `::error` or `::warning` command a line; empty if there is nothing to say."""
    commands = [_unreadable(fault) for fault in report.unreadable]
    commands += [_finding(finding) for finding in report.findings]
    return "".join(f"{command}\n" for command in commands)


def _finding(finding: Finding) -> str:
    place = " > ".join(filter(None, [finding.dashboard, finding.place]))
    message = f"{printable(f'{place}: {finding.message}')}\n{finding.fix}"
    return _command(finding.severity, finding.file, finding.line, None, finding.rule, message)


def _unreadable(fault: LintInputError) -> str:
    return _command("error", fault.file, fault.line, fault.column, "unreadable", fault.sentence)


def _command(kind: str, file: str, line: int | None, column: int | None, title: str, message: str) -> str:
    properties: dict[str, object] = {"file": file or None, "line": line, "col": column, "title": title}
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
    return f"::{kind} {written}::{_data(message)}"


def _data(text: str) -> str:
    lines = [printable(line) for line in text.split("\n")]
    return "%0A".join(line.replace("%", "%25").replace("\r", "%0D") for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
