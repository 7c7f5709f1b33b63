"""The report in SARIF 2.1.0, which code hosts and editors read."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from generator.lint.findings import Finding, LintInputError, dotted
from generator.lint.registry import RULES, Rule
from generator.lint.run import LintReport

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "off": "none"}


def to_sarif(report: LintReport) -> str:
    """The report as one SARIF run; files that could not be read are notifications of its invocation."""
    invocation: dict[str, Any] = {"executionSuccessful": not report.unreadable}
    if report.unreadable:
        invocation["toolExecutionNotifications"] = [_notification(fault) for fault in report.unreadable]
    driver = {"name": "rli dashboards lint", "rules": [_rule(rule) for rule in RULES.values()]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(finding) for finding in report.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=True) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": _message(rule.summary),
        "fullDescription": _message(rule.why),
        "help": _message(rule.help),
        "defaultConfiguration": {"enabled": rule.level != "off", "level": _LEVELS[rule.level]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    place = " > ".join(filter(None, [finding.dashboard, finding.place]))
    location = _location(finding.file, finding.line, None)
    location["logicalLocations"] = [{"fullyQualifiedName": dotted(finding.path) or "dashboard", "name": place}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "level": finding.severity,
        "message": _message(f"{place}: {finding.message}. {finding.fix}"),
        "locations": [location],
    }


def _notification(fault: LintInputError) -> dict[str, Any]:
    return {
        "level": "error",
        "message": _message(fault.sentence),
        "locations": [_location(fault.file, fault.line, fault.column)],
    }


def _message(text: str) -> dict[str, str]:
    # In SARIF braces are placeholders, and PromQL is full of them: doubled they are braces again.
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _location(file: str, line: int | None, column: int | None) -> dict[str, Any]:
    if not file:
        return {}
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line:
        physical["region"] = {"startLine": line, **({"startColumn": column} if column else {})}
    return {"physicalLocation": physical}


def _uri(file: str) -> str:
    path = Path(file)
    if path.is_absolute():
        # Code hosts show a finding beside its line only if the path is relative to where the tool ran.
        here = Path.cwd()
        if not path.is_relative_to(here):
            return f"file://{_quoted(path.as_posix())}"
        path = path.relative_to(here)
    return _quoted(path.as_posix())


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))
