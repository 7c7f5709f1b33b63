"""What the linter says: findings about a dashboard, and files that it could not read."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
Level = Literal["error", "warning", "off"]
JsonPath = tuple[str | int, ...]
"""The way to a value inside a JSON document: keys and positions."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where, and what to do about it."""

    rule: str
    severity: Severity
    file: str
    dashboard: str
    message: str
    fix: str
    section: tuple[str, ...] = ()
    panel: str = ""
    panel_id: int | None = None
    query: str = ""
    path: JsonPath = ()
    line: int | None = None

    @property
    def place(self) -> str:
        """The rows and the panel that it is about; empty for the dashboard itself."""
        return " > ".join(filter(None, [*self.section, self.panel]))


class LintInputError(ValueError):
    """Something given to the linter that it cannot use.

    The message is one sentence. `line` and `column` count from 1 and are set where they are known.
    """

    def __init__(self, sentence: str, file: str = "", line: int | None = None, column: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = [self.file, *(str(number) for number in (self.line, self.column) if number is not None)]
        return f"{':'.join(place)}: {self.sentence}" if self.file else self.sentence


def dotted(path: JsonPath) -> str:
    """The path as people write it: `panels[3].targets[0].expr`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
