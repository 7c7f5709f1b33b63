"""The report for programs. `version` changes only when a field is taken away or changes its meaning."""

import json
from typing import Any

from generator.lint.findings import Finding, LintInputError, dotted
from generator.lint.run import LintReport

VERSION = 1


def to_json(report: LintReport) -> str:
    """The report as JSON, described in docs/linter.md."""
    document = {
        "version": VERSION,
        "summary": {
            "dashboards": len(report.dashboards),
            "errors": report.count("error"),
            "warnings": report.count("warning"),
            "excluded": report.excluded,
            "unreadable": len(report.unreadable),
        },
        "dashboards": [{"file": one.file, "uid": one.uid, "title": one.title} for one in report.dashboards],
        "findings": [_finding(finding) for finding in report.findings],
        "unreadable": [_unreadable(fault) for fault in report.unreadable],
    }
    # ASCII: a title may hold half of a surrogate pair, which no encoding can write.
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line,
        "path": dotted(finding.path),
        "dashboard": finding.dashboard,
        "section": list(finding.section),
        "panel": finding.panel or None,
        "panel_id": finding.panel_id,
        "query": finding.query or None,
        "message": finding.message,
        "fix": finding.fix,
    }


def _unreadable(fault: LintInputError) -> dict[str, Any]:
    return {"file": fault.file, "line": fault.line, "column": fault.column, "message": fault.sentence}
