"""The table of rules in docs/linter.md: `python -m generator.lint.document` prints it."""

from generator.lint import RULES

_HEAD = ("| rule | level | finds | why | what to do |", "|---|---|---|---|---|")


def rules_table() -> str:
    """One row a rule, as Markdown."""
    rows = [_row(rule.id, rule.level, rule.summary, rule.why, rule.help) for rule in RULES.values()]
    return "\n".join([*_HEAD, *rows]) + "\n"


def _row(id: str, *cells: str) -> str:
    return "| " + " | ".join([f"`{id}`", *(cell.replace("|", "\\|") for cell in cells)]) + " |"


if __name__ == "__main__":
    print(rules_table(), end="")
