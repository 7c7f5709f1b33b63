"""The configuration file."""

from pathlib import Path

import pytest

from generator.lint import RULES, LintInputError, lint_dashboard, load_config
from generator.lint.config_yaml import read_config
from tests.lint.boards import board, panel, stat

EXAMPLE = """
rules:
  panel-description: off
  rate-interval: error
  editable: warning
exclude:
  - rule: counter-without-rate
    dashboard: clean
    panel: "Total*"
    reason: it is shown since the start on purpose
limits:
  first_screen_queries: 30
  required_labels: [cluster]
"""


def test_levels_exclusions_and_limits() -> None:
    config = read_config(EXAMPLE)
    assert config.level("panel-description") == "off"
    assert config.level("rate-interval") == "error"
    assert config.level("promql") == RULES["promql"].level
    assert (config.limits.first_screen_queries, config.limits.required_labels) == (30, ("cluster",))
    total = panel("a_total", id=2, title="Total requests", description="", gridPos={"x": 12, "y": 0, "w": 12, "h": 8})
    document = board(panel("rate(a_total[5m])"), total, editable=True)
    assert [(one.rule, one.severity) for one in lint_dashboard(document, config)] == [
        ("rate-interval", "error"),
        ("editable", "warning"),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rulez: {}", ".rli-lint.yaml:1: there is no key 'rulez'; did you mean rules?"),
        ("rules:\n  panel-descripton: off", ".rli-lint.yaml:2: there is no rule 'panel-descripton'; did you mean"),
        ("rules:\n  promql: loud", ".rli-lint.yaml:2: rules.promql is 'loud'; write error, warning, off"),
        ("rules:\n  promql: on", ".rli-lint.yaml:2: rules.promql is 'on'"),
        ("rules: [promql]", ".rli-lint.yaml:1: rules should be a list of `key: value`"),
        ("- rules", ".rli-lint.yaml:1: the file should be"),
        ("exclude:\n  - rule: promql", ".rli-lint.yaml:2: an exclusion needs a reason"),
        ("exclude:\n  - reason: x", ".rli-lint.yaml:2: an exclusion needs a rule, a dashboard or a panel"),
        ("exclude:\n  - {rule: promqll, reason: x}", "there is no rule 'promqll'; did you mean promql?"),
        ("exclude:\n  - {rule: promql, because: x}", "there is no key 'because'"),
        ("exclude: promql", "exclude should be a list, each entry after a `-`"),
        ("limits:\n  first_screen_queries: many", ".rli-lint.yaml:2: limits.first_screen_queries is 'many'"),
        ("limits:\n  first_screen_queries: -1", "write a whole number"),
        ("limits:\n  first_screen_querys: 1", "did you mean first_screen_queries?"),
        ("limits:\n  required_labels: job", "limits.required_labels should be a list"),
        ("rules:\n  promql: off\n  promql: error", ".rli-lint.yaml:3: promql stands in rules twice"),
        ("rules: {promql: off", ".rli-lint.yaml:1: is not YAML"),
        ("a: \x00", "is not YAML"),
        ("rules:\n  promql: [off]", ".rli-lint.yaml:2: rules.promql should be a single word"),
        ("[" * 1500, "is n"),
    ],
)  # fmt: skip
def test_a_slip_is_named_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(LintInputError) as caught:
        read_config(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_file_changes_nothing() -> None:
    assert read_config("") == read_config("# nothing yet\n")


def test_exclusions_by_title_uid_and_pattern() -> None:
    document = board(stat(unit=""), title="The Title")
    for who in ("dashboard: clean", "dashboard: The Title", "dashboard: 'The*'", "panel: Queu?", "rule: panel-*"):
        config = read_config(f"exclude:\n  - {who}\n    reason: a test")
        assert lint_dashboard(document, config) == []
    bracketed = board(stat(unit="") | {"title": "Rate [1m]"})
    config = read_config("exclude:\n  - {panel: 'Rate [1m]', reason: a test}")
    assert lint_dashboard(bracketed, config) == []
    config = read_config("exclude:\n  - {dashboard: other, reason: a test}")
    assert len(lint_dashboard(document, config)) == 1


def test_the_file_of_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config().levels == {}
    (tmp_path / ".rli-lint.yaml").write_text("rules:\n  promql: off\n")
    assert load_config().levels == {"promql": "off"}
    (tmp_path / "other.yaml").write_text("rules:\n  legend: off\n")
    assert load_config("other.yaml").levels == {"legend": "off"}


def test_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(LintInputError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.yaml")
    with pytest.raises(LintInputError, match="cannot be read: Is a directory"):
        load_config(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("# café".encode("latin-1"))
    with pytest.raises(LintInputError, match="is not encoded in UTF-8"):
        load_config(tmp_path / "latin.yaml")
    (tmp_path / "big.yaml").write_bytes(b"#" * 2_000_000)
    with pytest.raises(LintInputError, match="is over 1 MB"):
        load_config(tmp_path / "big.yaml")
