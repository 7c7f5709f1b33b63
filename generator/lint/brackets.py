"""Do brackets and quotes of a query match? For the query languages that we have no parser for."""

import re

_CLOSES = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(
    r"""\$\{\w[^}]*\}|\[\[\w+(?::\w+)?\]\]"""  # Grafana's variables are no brackets of the query
    r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`"""
    r"""|["'`()\[\]{}]""",
    re.DOTALL,
)


def unbalanced(text: str) -> str:
    """What does not match, in words; empty if all does."""
    still_open: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ('"', "'", "`"):
            return f"the quote {token} at character {match.start() + 1} is not closed"
        if token in ("(", "[", "{"):
            still_open.append(token)
        elif token in _CLOSES and (not still_open or still_open.pop() != _CLOSES[token]):
            return f"{token} at character {match.start() + 1} closes nothing"
    return f"{still_open[-1]} is not closed" if still_open else ""
