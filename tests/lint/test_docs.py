"""docs/linter.md says what the linter does."""

import re
from pathlib import Path

from generator.lint import FORMATS
from generator.lint.config import FILE_NAME
from generator.lint.config_yaml import read_config
from generator.lint.document import rules_table
from generator.lint.registry import Limits

TEXT = (Path(__file__).parents[2] / "docs" / "linter.md").read_text(encoding="utf-8")


def test_the_table_of_rules_is_that_of_the_registry() -> None:
    written = re.search(r"^\| rule \| level \|.*?\n\n", TEXT, re.DOTALL | re.MULTILINE)
    assert written, "there is no table of rules"
    assert written[0].rstrip("\n") + "\n" == rules_table(), (
        "run python -m generator.lint.document and put its table into docs/linter.md"
    )


def test_the_example_configuration_is_one() -> None:
    (example,) = re.findall(r"```yaml\n(rules:.*?)```", TEXT, re.DOTALL)
    config = read_config(example)
    assert config.levels
    assert config.exclusions
    assert config.limits != Limits()
    assert FILE_NAME in TEXT


def test_every_format_is_described() -> None:
    assert all(f"`{format}`" in TEXT for format in FORMATS)
