"""What the linter found, in the format that its reader wants."""

from collections.abc import Callable

from generator.lint.report_github import to_github
from generator.lint.report_json import to_json
from generator.lint.report_sarif import to_sarif
from generator.lint.report_text import to_text
from generator.lint.run import LintReport

_RENDERERS: dict[str, Callable[[LintReport], str]] = {"json": to_json, "sarif": to_sarif, "github": to_github}
FORMATS = ("text", *_RENDERERS)


def render(report: LintReport, format: str, *, color: bool = False, width: int = 100) -> str:
    """The report as text, json, sarif or github annotations; ends in a newline unless it is empty.

    `color` and `width` are for text only. Raises ValueError for another format.
    """
    if format == "text":
        return to_text(report, color=color, width=width)
    if format not in _RENDERERS:
        raise ValueError(f"there is no format {format!r}; known are {', '.join(FORMATS)}")
    return _RENDERERS[format](report)
