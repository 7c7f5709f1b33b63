"""`rli dashboards lint` as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command.test_dashboards import NAMES, one_sentence, rli

FAULTY = {
    "uid": "faulty",
    "title": "Faulty",
    "panels": [
        {
            "id": 1,
            "type": "timeseries",
            "title": "Requests",
            "gridPos": {"x": 20, "y": 0, "w": 12, "h": 8},
            "datasource": {"type": "prometheus", "uid": "fixed"},
            "targets": [{"refId": "A", "expr": "sum(requests_total{job="}],
        }
    ],
}


def write(folder: Path, content: Any, name: str = "board.json") -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def test_ours_are_clean_even_when_warnings_count() -> None:
    done = rli("dashboards", "lint", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 dashboards" in done.stdout


def test_ours_are_clean_as_files_too(tmp_path: Path) -> None:
    rli("dashboards", "build", "--out", str(tmp_path))
    assert rli("dashboards", "lint", "--strict", str(tmp_path)).returncode == 0


def test_findings_say_rule_panel_and_what_to_do_and_exit_with_1(tmp_path: Path) -> None:
    done = rli("dashboards", "lint", write(tmp_path, FAULTY))
    assert done.returncode == 1
    for words in ("promql", "grid-size", "datasource", "Requests", "Correct the query"):
        assert words in done.stdout


def test_warnings_alone_fail_only_when_strict(tmp_path: Path) -> None:
    text = {"id": 1, "type": "text", "title": "Words", "gridPos": {"x": 0, "y": 0, "w": 24, "h": 3}}
    unused = {"name": "x", "type": "custom", "query": "a,b", "current": {"text": "a", "value": "a"}}
    board = {"uid": "b", "title": "B", "panels": [text], "templating": {"list": [unused]}}
    path = write(tmp_path, board)
    assert rli("dashboards", "lint", path).returncode == 0
    assert rli("dashboards", "lint", path, "--strict").returncode == 1


def test_machines_read_json_and_sarif(tmp_path: Path) -> None:
    path = write(tmp_path, FAULTY)
    report = json.loads(rli("dashboards", "lint", path, "--format", "json").stdout)
    assert report["summary"]["errors"] >= 3
    sarif = json.loads(rli("dashboards", "lint", path, "--format", "sarif").stdout)
    assert sarif["version"] == "2.1.0"
    assert "::error file=" in rli("dashboards", "lint", path, "--format", "github").stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "empty"), ('{"title": "cut', "JSON"), ("[]", "list"), ('"text"', "dashboard"), ("nonsense", "JSON")],
)
def test_what_cannot_be_read_is_named_and_exits_with_2(tmp_path: Path, content: str, words: str) -> None:
    done = rli("dashboards", "lint", write(tmp_path, content))
    assert done.returncode == 2
    assert "board.json" in done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_one_unreadable_file_does_not_keep_the_others_from_being_linted(tmp_path: Path) -> None:
    write(tmp_path, "", "empty.json")
    write(tmp_path, FAULTY, "faulty.json")
    done = rli("dashboards", "lint", str(tmp_path))
    assert done.returncode == 2
    assert "empty.json" in done.stdout + done.stderr
    assert "promql" in done.stdout


def test_a_path_that_is_not_there_exits_with_2(tmp_path: Path) -> None:
    done = rli("dashboards", "lint", str(tmp_path / "gone.json"))
    assert done.returncode == 2
    assert "gone.json" in done.stdout + done.stderr


def test_rules_are_switched_by_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, FAULTY)
    config = write(
        tmp_path, "rules: {promql: off, grid-size: off, datasource: off, datasource-variable: off}", "r.yaml"
    )
    done = rli("dashboards", "lint", path, "--config", config)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("text", ["rules: {no-such-rule: off}", "nonsense: 1", "rules: [", "rules: {promql: loud}"])
def test_a_wrong_config_is_one_sentence(tmp_path: Path, text: str) -> None:
    done = rli("dashboards", "lint", "--config", write(tmp_path, text, "rules.yaml"))
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "rules.yaml" in done.stderr


def test_queries_are_run_where_a_prometheus_is_given(history: Any) -> None:
    done = rli("dashboards", "lint", "--prometheus-url", history.server.url, "--format", "json")
    report = json.loads(done.stdout)
    assert "query-fails" not in {finding["rule"] for finding in report["findings"]}
    assert {dashboard["title"] for dashboard in report["dashboards"]} == set(NAMES)


def test_a_value_that_is_none_is_one_sentence() -> None:
    done = rli("dashboards", "lint", "--prometheus-url", "http://127.0.0.1:1", "--var", "project")
    assert (done.returncode, one_sentence(done.stderr)) == (2, True)
    assert "NAME=VALUE" in done.stderr


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://127.0.0.1", "nonsense"])
def test_a_prometheus_that_does_not_answer_is_one_sentence(url: str) -> None:
    done = rli("dashboards", "lint", "--prometheus-url", url)
    assert done.returncode == 2
    assert one_sentence(done.stderr)
