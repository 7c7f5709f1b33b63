"""The configuration file `.rli-lint.yaml`: which rules hold, where not, and why."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from generator.lint.findings import Finding, Level, LintInputError
from generator.lint.registry import RULES, Limits

FILE_NAME = ".rli-lint.yaml"
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Findings that are left out, and why. A field that is empty fits all; `*` and `?` stand for any text."""

    reason: str
    rule: str = ""
    dashboard: str = ""
    panel: str = ""

    def covers(self, finding: Finding, uid: str) -> bool:
        dashboards = (uid, finding.dashboard)
        return (
            (not self.rule or _fits(finding.rule, self.rule))
            and (not self.dashboard or any(_fits(name, self.dashboard) for name in dashboards))
            and (not self.panel or _fits(finding.panel, self.panel))
        )


def _fits(text: str, pattern: str) -> bool:
    # Titles have brackets in them, such as [1m]; no one means a set of characters by that.
    return fnmatchcase(text, pattern.replace("[", "[[]"))


@dataclass(frozen=True, slots=True)
class LintConfig:
    """What a project wants of the linter."""

    levels: dict[str, Level] = field(default_factory=dict)
    exclusions: tuple[Exclusion, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def level(self, rule: str) -> Level:
        return self.levels.get(rule, RULES[rule].level)


def load_config(path: str | Path | None = None) -> LintConfig:
    """The configuration in `path`; without one, that of the current folder if there is any.

    Raises LintInputError for a file that cannot be used.
    """
    file = Path(path) if path is not None else Path(FILE_NAME)
    if path is None and not file.is_file():
        return LintConfig()
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise LintInputError("is over 1 MB; a configuration is a few lines", file.as_posix())
        text = file.read_text(encoding="utf-8")
    except OSError as fault:
        raise LintInputError(f"cannot be read: {fault.strerror}", file.as_posix()) from fault
    except UnicodeDecodeError as fault:
        raise LintInputError("is not encoded in UTF-8", file.as_posix()) from fault
    # Importing yaml takes as long as linting a small dashboard, and most runs have no configuration.
    from generator.lint.config_yaml import read_config

    return read_config(text, file.as_posix())
