"""Files that are no dashboards, or hardly: one sentence each, exit 2, and the others are linted all the same."""

import json
import os
from pathlib import Path

import pytest

from generator.lint import LintConfig, LintReport, lint_paths
from generator.lint.load import MAX_FILE_BYTES
from tests.lint.boards import board, panel


def lint(*paths: Path) -> LintReport:
    return lint_paths(paths, LintConfig())


def sentence(content: bytes, tmp_path: Path) -> str:
    """What is said of a file with this content; a good file beside it must be linted."""
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_bytes(content)
    good.write_text(json.dumps(board(panel("sum("))))
    report = lint(bad, good)
    assert report.exit_code() == 2
    assert [one.rule for one in report.findings] == ["promql"]
    (fault,) = report.unreadable
    assert "\n" not in str(fault)
    return str(fault).replace(tmp_path.as_posix(), "")


GOOD = json.dumps(board()).encode()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "/bad.json: is empty"),
        (b" \n\t", "/bad.json: is empty"),
        (GOOD[:-20], "/bad.json:1:"),
        (b'{"panels": [}', "/bad.json:1:13: is not JSON: expecting value"),
        (b'{\n "panels": [1 2]\n}', "/bad.json:2:15: is not JSON: expecting ',' delimiter"),
        (b"[]", "/bad.json: holds a list; a dashboard is a JSON object"),
        (b"null", "/bad.json: holds null"),
        (b'{"panels": [], "x": NaN}', "a value is NaN, which JSON does not have"),
        (b'{"panels": [], "x": ' + b"9" * 5000 + b"}", "/bad.json: is not JSON that can be read"),
        ("{}".encode("utf-16"), "/bad.json: is encoded in UTF-16; save it as UTF-8"),
        ("{}".encode("utf-32"), "/bad.json: is encoded in UTF-32; save it as UTF-8"),
        ('{\n"title": "café"}'.encode("latin-1"), "/bad.json:2:14: is not encoded in UTF-8"),
        (b"[" * 100_000, "/bad.json: is nested too deeply to be read"),
        (b'{"panels":[' * 10_000 + b"]}" * 10_000, "/bad.json: is nested too deeply to be read"),
        (b'{"name": "a package", "version": "1.0"}', "/bad.json: is no Grafana dashboard"),
    ],
)
def test_unreadable_files(content: bytes, expected: str, tmp_path: Path) -> None:
    assert expected in sentence(content, tmp_path)


def test_a_file_of_50_mb(tmp_path: Path) -> None:
    big = tmp_path / "big.json"
    with big.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    (fault,) = lint(big).unreadable
    assert fault.sentence == "has 50 MB; files over 20 MB are not read, since no dashboard is so large"


def test_a_file_just_below_the_limit_is_read(tmp_path: Path) -> None:
    large = board(description="x" * (MAX_FILE_BYTES - 10_000))
    (tmp_path / "large.json").write_text(json.dumps(large))
    assert lint(tmp_path).exit_code() == 0


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "marked.json").write_bytes(b"\xef\xbb\xbf" + GOOD)
    assert lint(tmp_path).exit_code() == 0


def test_folders_are_searched_but_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("b/two.json", "a/one.json", "a/deep/er.json", ".git/no.json", "a/note.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)
    report = lint(tmp_path)
    assert [one.file.removeprefix(f"{tmp_path}/") for one in report.dashboards] == [
        "a/one.json",
        "a/deep/er.json",
        "b/two.json",
    ]


def test_a_file_given_twice_is_linted_once(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_bytes(GOOD)
    assert len(lint(tmp_path, tmp_path / "one.json", tmp_path).dashboards) == 1


def test_paths_that_are_not_there_empty_folders_and_things_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    report = lint(tmp_path / "none.json", tmp_path / "empty", tmp_path / "pipe", Path("nul\0byte"))
    assert report.exit_code() == 2
    said = [fault.sentence for fault in report.unreadable]
    assert "cannot be read: no such file or directory" in said
    assert "holds no .json file" in said
    assert "is no regular file" in said
    assert len(said) == 4


def test_a_uid_in_two_files(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(GOOD)
    (found,) = lint(tmp_path).findings
    assert found.rule == "duplicate-uid"
    assert found.file.endswith("b.json")
    assert "a.json has the uid 'clean' too" in found.message


def test_a_finding_has_the_line_of_what_it_is_about(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(board(panel("sum(", description="")), indent=2))
    lines = file.read_text().splitlines()
    found = {one.rule: one for one in lint(file).findings}
    assert "sum(" in lines[(found["promql"].line or 0) - 1]
    assert found["panel-description"].line == lines.index('  "panels": [') + 2


def test_links_lead_to_panels_of_other_dashboards(tmp_path: Path) -> None:
    for uid, to in (("a", "b?viewPanel=1"), ("b", "a?viewPanel=5")):
        link = {"title": "x", "url": f"/d/{to}"}
        (tmp_path / f"{uid}.json").write_text(json.dumps(board(panel(links=[link]), uid=uid)))
    (found,) = lint(tmp_path).findings
    assert (found.rule, found.message) == ("broken-panel-link", "the dashboard 'a' has no panel 5")
