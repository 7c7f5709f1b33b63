"""The four formats of a report."""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.lint import RULES, LintConfig, LintReport, lint_paths, render
from generator.lint.read import read_dashboard
from generator.lint.report_text import MOST_LISTED
from generator.lint.run import Source, lint_sources
from tests.lint.boards import board, panel, row

BOARD = board(
    panel("sum("),
    row("Engine", [panel("rate(requests_total[5m])", id=2, title="Rate, 100% of it: all\n::error::")]),
)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LintReport:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.json").write_text(json.dumps(BOARD, indent=1))
    (tmp_path / "broken.json").write_text("{\n]")
    return lint_paths(["a b.json", "broken.json"], LintConfig())


def test_text(report: LintReport) -> None:
    lines = render(report, "text").splitlines()
    assert lines[0].startswith("unreadable  broken.json:2:1: is not JSON")
    assert lines[2] == "a b.json: Clean (1 error, 1 warning)"
    assert "  error  promql: A query is no PromQL" in lines
    assert "      - Queue, query A: unclosed left parenthesis: sum( (line 24)" in lines
    assert any(line.startswith("      - Engine > Rate, 100% of it: all") for line in lines)
    assert lines[-1] == "1 dashboard: 1 error, 1 warning; 1 file could not be read."


def test_text_keeps_to_its_width(report: LintReport) -> None:
    for width in (80, 100):
        lines = render(report, "text", width=width).splitlines()
        assert max(map(len, lines)) <= width


def test_text_has_color_only_if_asked(report: LintReport) -> None:
    assert "\x1b" not in render(report, "text")
    assert "\x1b[31merror\x1b[0m" in render(report, "text", color=True)


def test_text_does_not_repeat_one_fault_a_hundred_times() -> None:
    places = [{"x": 0, "y": 8 * number, "w": 12, "h": 8} for number in range(100)]
    panels = [panel(id=at, title=f"P{at}", description="", gridPos=place) for at, place in enumerate(places, 1)]
    report = lint_sources([Source(read_dashboard(board(*panels)))])
    text = render(report, "text")
    assert text.count("no description") == MOST_LISTED + 1  # and once in the rule's own words
    assert f"and {100 - MOST_LISTED} more (--format json lists all)" in text


def test_text_of_a_clean_dashboard() -> None:
    report = lint_sources([Source(read_dashboard(board()))])
    assert render(report, "text") == "1 dashboard: nothing to report.\n"
    assert render(report, "github") == ""


def test_json(report: LintReport) -> None:
    document = json.loads(render(report, "json"))
    assert document["version"] == 1
    assert document["summary"] == {"dashboards": 1, "errors": 1, "warnings": 1, "excluded": 0, "unreadable": 1}
    assert document["dashboards"] == [{"file": "a b.json", "uid": "clean", "title": "Clean"}]
    assert document["findings"][0] == {
        "rule": "promql",
        "severity": "error",
        "file": "a b.json",
        "line": 24,
        "path": "panels[0].targets[0].expr",
        "dashboard": "Clean",
        "section": [],
        "panel": "Queue",
        "panel_id": 1,
        "query": "A",
        "message": "unclosed left parenthesis: sum(",
        "fix": RULES["promql"].help,
    }
    (fault,) = document["unreadable"]
    assert (fault["file"], fault["line"], fault["column"]) == ("broken.json", 2, 1)


def test_github_annotations_cannot_be_broken_by_a_title(report: LintReport) -> None:
    commands = render(report, "github").splitlines()
    assert len(commands) == 3
    assert commands[0].startswith("::error file=broken.json,line=2,col=1,title=unreadable::is not JSON")
    assert commands[1].startswith("::error file=a b.json,line=24,title=promql::Clean > Queue: unclosed")
    assert "100%25 of it: all ::error::: rate(requests_total[5m])%0A" in commands[2]


def test_github_properties_are_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b:c%.json").write_text("{")
    assert render(lint_paths(["a,b:c%.json"]), "github").startswith("::error file=a%2Cb%3Ac%25.json,")


def sarif(report: LintReport) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render(report, "sarif"))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    return dict(run)


def test_sarif_describes_each_rule(report: LintReport) -> None:
    driver = sarif(report)["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    for rule in driver["rules"]:
        assert set(rule) == {"id", "shortDescription", "fullDescription", "help", "defaultConfiguration"}
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "none")


def test_sarif_results_refer_to_rules_and_places(report: LintReport) -> None:
    run = sarif(report)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.json"
        assert location["physicalLocation"]["region"]["startLine"] > 1
    assert "label" not in run["results"][0]["message"]["text"]


def test_sarif_doubles_braces_which_would_be_placeholders() -> None:
    report = lint_sources([Source(read_dashboard(board(panel('sum(a{b="{0}"}'))))])
    assert 'a{{b="{{0}}"}}' in sarif(report)["results"][0]["message"]["text"]


def test_sarif_tells_what_could_not_be_read(report: LintReport) -> None:
    (invocation,) = sarif(report)["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    place = notification["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "broken.json"}, "region": {"startLine": 2, "startColumn": 1}}


def test_sarif_paths_are_relative_to_where_it_ran(
    report: LintReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    inside = lint_paths([Path.cwd() / "a b.json"])
    assert sarif(inside)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.json"
    monkeypatch.chdir(tmp_path / "elsewhere")
    place = sarif(inside)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place.startswith("file:///")


def test_nothing_in_a_dashboard_steers_the_terminal_or_breaks_the_encoding() -> None:
    title = "\x1b[2J\x07 half a pair: \ud800, right to left: \u202e"
    report = lint_sources([Source(read_dashboard(board(panel("sum(", title=title), title=title)))])
    for format in ("text", "github"):
        text = render(report, format)
        assert all(one.isprintable() or one == "\n" for one in text)
        assert "\\u001b[2J" in text
    for format in ("json", "sarif"):
        render(report, format).encode("ascii")


def test_exit_codes(report: LintReport) -> None:
    clean = lint_sources([Source(read_dashboard(board()))])
    warned = lint_sources([Source(read_dashboard(board(panel(description=""))))])
    wrong = lint_sources([Source(read_dashboard(board(panel("sum("))))])
    codes = [(one.exit_code(), one.exit_code(strict=True)) for one in (clean, warned, wrong, report)]
    assert codes == [(0, 0), (0, 1), (1, 1), (2, 2)]


def test_an_unknown_format_is_refused(report: LintReport) -> None:
    with pytest.raises(ValueError, match="there is no format 'xml'; known are text, json, sarif, github"):
        render(report, "xml")
