"""Runs the rules over dashboards."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.lint import (  # noqa: F401  each registers its rules as it is imported
    rules_dashboard,
    rules_execution,
    rules_layout,
    rules_metrics,
    rules_panels,
    rules_queries,
    rules_variables,
)
from generator.lint.config import LintConfig
from generator.lint.findings import Finding, LintInputError, Severity
from generator.lint.known import KnownMetrics
from generator.lint.load import find_files, parse_json, read_text
from generator.lint.locate import Lines
from generator.lint.model import Dashboard
from generator.lint.read import read_dashboard
from generator.lint.registry import RULES, Context, Problem, Rule

if TYPE_CHECKING:
    from generator.lint.execute import Live

_ORDER = {"error": 0, "warning": 1}


@dataclass(frozen=True, slots=True)
class LintReport:
    """What came of linting some files."""

    dashboards: tuple[Dashboard, ...] = ()
    findings: tuple[Finding, ...] = ()
    unreadable: tuple[LintInputError, ...] = ()
    excluded: int = 0
    """Findings left out because the configuration says so, with a reason."""

    def count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    def exit_code(self, strict: bool = False) -> int:
        """0 clean; 1 errors, with `strict` warnings too; 2 something could not be read."""
        if self.unreadable:
            return 2
        return int(self.count("error") > 0 or (strict and bool(self.findings)))


@dataclass(frozen=True, slots=True)
class Source:
    """A dashboard that was read, and the text that it was read from, for the lines."""

    dashboard: Dashboard
    text: str = ""


@dataclass(slots=True)
class _Found:
    """Findings, and how many more the configuration leaves out."""

    findings: list[Finding] = field(default_factory=list)
    excluded: int = 0


def read_files(paths: Iterable[str | Path]) -> tuple[list[Source], list[LintInputError]]:
    """The dashboards in files and folders, and what could not be read."""
    files, unreadable = find_files(paths)
    sources: list[Source] = []
    for path in files:
        file = path.as_posix()
        try:
            text = read_text(path)
            sources.append(Source(read_dashboard(parse_json(text, file), file), text))
        except LintInputError as fault:
            unreadable.append(fault)
    return sources, unreadable


def lint_paths(
    paths: Iterable[str | Path],
    config: LintConfig | None = None,
    known: KnownMetrics | None = None,
    live: "Live | None" = None,
) -> LintReport:
    """Lints dashboard files and folders of them; with `live`, runs their queries too.

    Files that cannot be read do not keep the others from it. Raises LintInputError if there is no Prometheus
    where `live` says.
    """
    sources, unreadable = read_files(paths)
    return lint_sources(sources, unreadable, config, known, live)


def lint_dashboard(
    document: Any,
    config: LintConfig | None = None,
    known: KnownMetrics | None = None,
    file: str = "",
) -> list[Finding]:
    """The findings about one dashboard, given as parsed JSON. Raises LintInputError if it is none."""
    return list(lint_sources([Source(read_dashboard(document, file))], (), config, known).findings)


def lint_sources(
    sources: Sequence[Source],
    unreadable: Iterable[LintInputError] = (),
    config: LintConfig | None = None,
    known: KnownMetrics | None = None,
    live: "Live | None" = None,
) -> LintReport:
    """Lints dashboards that have been read."""
    config = config or LintConfig()
    dashboards = tuple(source.dashboard for source in sources)
    context = Context(known, config.limits, dashboards)
    if live:
        live.prometheus.check()
    found = _Found()
    for source in sources:
        problems = [(rule, problem) for rule in _active(config, known) for problem in _check(rule, source, context)]
        if live:
            problems += live.problems(source.dashboard)
        _collect(found, source, problems, config)
    return LintReport(dashboards, tuple(found.findings), tuple(unreadable), found.excluded)


def _active(config: LintConfig, known: KnownMetrics | None) -> Iterator[Rule]:
    for one in RULES.values():
        if config.level(one.id) != "off" and not (one.needs_known and known is None):
            yield one


def _check(rule: Rule, source: Source, context: Context) -> Iterator[Problem]:
    return rule.check(source.dashboard, context) if rule.check else iter(())


def _collect(found: _Found, source: Source, problems: Iterable[tuple[Rule, Problem]], config: LintConfig) -> None:
    """Adds to `found` what the configuration does not exclude, in the order of the document."""
    here: dict[Finding, None] = {}
    for rule, problem in problems:
        level = config.level(rule.id)
        if level == "off":
            continue
        finding = _finding(source.dashboard, rule, problem, level)
        if any(exclusion.covers(finding, source.dashboard.uid) for exclusion in config.exclusions):
            found.excluded += 1
        else:
            here.setdefault(finding)
    lines = Lines(source.text) if source.text and here else None
    placed = [replace(one, line=lines.line(one.path)) if lines else one for one in here]
    found.findings += sorted(placed, key=lambda one: (_ORDER[one.severity], one.rule, one.line or 0))


def _finding(dashboard: Dashboard, rule: Rule, problem: Problem, level: Severity) -> Finding:
    panel = problem.panel
    return Finding(
        rule=rule.id,
        severity=level,
        file=dashboard.file,
        dashboard=dashboard.name,
        message=problem.message,
        fix=rule.help,
        section=panel.section if panel else problem.section,
        panel=(panel.title or f"a {panel.type} without a title") if panel else "",
        panel_id=panel.id if panel else None,
        query=problem.query.ref_id if problem.query else "",
        path=problem.path,
    )
