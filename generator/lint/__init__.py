"""Checks Grafana dashboards: ours or anyone's, in the classic or the v2 schema.

The command line does this, and turns a LintInputError into one sentence and exit code 2:

    report = lint_paths(["dist/dashboards"], load_config(), known)
    print(render(report, "text"), end="")
    sys.exit(report.exit_code(strict=True))

To run the queries too, give `lint_paths` a `generator.lint.execute.Live`.
"""

from generator.lint.config import LintConfig, load_config
from generator.lint.findings import Finding, LintInputError, Severity
from generator.lint.known import KnownMetrics
from generator.lint.registry import RULES, Rule
from generator.lint.report import FORMATS, render
from generator.lint.run import LintReport, lint_dashboard, lint_paths

__all__ = [
    "FORMATS",
    "RULES",
    "Finding",
    "KnownMetrics",
    "LintConfig",
    "LintInputError",
    "LintReport",
    "Rule",
    "Severity",
    "lint_dashboard",
    "lint_paths",
    "load_config",
    "render",
]
