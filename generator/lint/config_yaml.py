"""Reads the configuration from YAML, so strictly that a slip of the pen is not taken for a wish."""

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, get_args

import yaml

from generator.lint.config import FILE_NAME, Exclusion, LintConfig
from generator.lint.findings import Level, LintInputError
from generator.lint.registry import RULES, Limits

_LEVELS: tuple[Level, ...] = get_args(Level)


def read_config(text: str, file: str = FILE_NAME) -> LintConfig:
    """The configuration in a YAML text. Raises LintInputError that names the key and its line."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        line = mark.line + 1 if mark else None
        raise LintInputError(f"is not YAML: {fault.problem}", file, line) from fault
    except yaml.YAMLError as fault:
        raise LintInputError(f"is not YAML: {str(fault).splitlines()[0]}", file) from fault
    except RecursionError as fault:
        raise LintInputError("is nested too deeply", file) from fault
    return LintConfig() if root is None else _Reader(file).read(root)


class _Reader:
    """Reads YAML nodes rather than values: they know their line, and that `off` was written, not false."""

    def __init__(self, file: str) -> None:
        self.file = file

    def read(self, root: yaml.Node) -> LintConfig:
        parts = self._keys(root, "the file", ("rules", "exclude", "limits"))
        levels = dict(self._levels(parts["rules"])) if "rules" in parts else {}
        exclusions = self._items(parts["exclude"], "exclude") if "exclude" in parts else []
        return LintConfig(
            levels,
            tuple(self._exclusion(node) for node in exclusions),
            self._limits(parts["limits"]) if "limits" in parts else Limits(),
        )

    def _levels(self, node: yaml.Node) -> Iterator[tuple[str, Level]]:
        for rule, value in self._keys(node, "rules", tuple(RULES), "rule").items():
            written = self._text(value, f"rules.{rule}")
            chosen = next((level for level in _LEVELS if level == written), None)
            if chosen is None:
                raise self._fault(value, f"rules.{rule} is {written!r}; write {', '.join(_LEVELS)}")
            yield rule, chosen

    def _exclusion(self, node: yaml.Node) -> Exclusion:
        parts = self._keys(node, "exclude", ("rule", "dashboard", "panel", "reason"))
        texts = {key: self._text(value, f"exclude.{key}") for key, value in parts.items()}
        if not texts.get("reason", "").strip():
            raise self._fault(node, "an exclusion needs a reason")
        if len(texts) == 1:
            raise self._fault(node, "an exclusion needs a rule, a dashboard or a panel")
        rule = texts.get("rule", "")
        if rule and not any(fnmatchcase(one, rule) for one in RULES):
            raise self._fault(parts["rule"], self._unknown("rule", rule, tuple(RULES)))
        return Exclusion(**texts)

    def _limits(self, node: yaml.Node) -> Limits:
        parts = self._keys(node, "limits", ("first_screen_queries", "required_labels"))
        changes: dict[str, Any] = {}
        if "first_screen_queries" in parts:
            changes["first_screen_queries"] = self._count(parts["first_screen_queries"], "first_screen_queries")
        if "required_labels" in parts:
            labels = self._items(parts["required_labels"], "limits.required_labels")
            changes["required_labels"] = tuple(self._text(label, "limits.required_labels") for label in labels)
        return Limits(**changes)

    def _count(self, node: yaml.Node, key: str) -> int:
        text = self._text(node, f"limits.{key}")
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise self._fault(node, f"limits.{key} is {text!r}; write a whole number")
        return int(text)

    def _keys(self, node: yaml.Node, where: str, allowed: tuple[str, ...], kind: str = "key") -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise self._fault(node, f"{where} should be a list of `key: value`")
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = self._text(key, where)
            if name not in allowed:
                raise self._fault(key, self._unknown(kind, name, allowed))
            if name in found:
                raise self._fault(key, f"{name} stands in {where} twice")
            found[name] = value
        return found

    def _items(self, node: yaml.Node, where: str) -> list[Any]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._fault(node, f"{where} should be a list, each entry after a `-`")
        return list(node.value)

    def _text(self, node: yaml.Node, where: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._fault(node, f"{where} should be a single word or text")
        return str(node.value)

    def _unknown(self, kind: str, name: str, allowed: tuple[str, ...]) -> str:
        near = get_close_matches(name, allowed, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(allowed)}"
        return f"there is no {kind} {name!r}; {hint}"

    def _fault(self, node: yaml.Node, sentence: str) -> LintInputError:
        return LintInputError(sentence, self.file, node.start_mark.line + 1)
