"""Dashboards as files: found, loaded, and blamed where they are wrong."""

from pathlib import Path

import pytest

from generator.errors import BuildError
from generator.sources import chosen, discover

GOOD = """
from generator.dashboard import Dashboard
DASHBOARD = Dashboard(name={name!r}, description="d", sections=[], variables=[])
"""


def write(folder: Path, name: str, content: str) -> None:
    (folder / f"{name}.py").write_text(content, encoding="utf-8")


def test_a_folder_gives_its_dashboards_by_name(tmp_path: Path) -> None:
    for name in ("b", "a", "_helper", "__init__"):
        write(tmp_path, name, GOOD.format(name=name))
    (tmp_path / "notes.txt").write_text("no dashboard")
    assert [source.name for source in discover(tmp_path)] == ["a", "b"]
    assert discover(tmp_path)[0].build()["uid"] == "a"


def test_an_unknown_name_is_answered_with_those_there_are(tmp_path: Path) -> None:
    write(tmp_path, "a", GOOD.format(name="a"))
    with pytest.raises(BuildError, match="no dashboard is called 'x'; there are a"):
        chosen(discover(tmp_path), ["a", "x"])
    assert [source.name for source in chosen(discover(tmp_path), ["a", "a"])] == ["a"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x = 1\nraise RuntimeError('broken on purpose')\n", ["bad.py, line 2", "RuntimeError: broken on purpose"]),
        ("x = (\n", ["bad.py, line 1", "SyntaxError"]),
        ("import no_such_module_anywhere\n", ["bad.py, line 1", "no_such_module_anywhere"]),
        ("1 / 0\n", ["bad.py, line 1", "ZeroDivisionError"]),
        ("x = 1\n", ["bad.py", "declares no DASHBOARD"]),
        ("DASHBOARD = {'uid': 'bad'}\n", ["bad.py", "declares no DASHBOARD"]),
        (GOOD.format(name="other"), ["bad.py", "'other'", "the name must be the file's, 'bad'"]),
        (
            "from generator.dashboard import Dashboard, Section\nfrom generator.panels import text\n"
            "DASHBOARD = Dashboard(name='bad', description='d', variables=[],\n"
            "    sections=[Section('A', [text('t', 'x', width=30)])])\n",
            ["bad.py", "dashboard bad", "section 'A'", "panel 't'", "30 wide"],
        ),
        ("raise SystemExit(3)\n", ["bad.py", "SystemExit"]),
    ],
)
def test_a_source_that_is_wrong_is_named_in_one_sentence(tmp_path: Path, content: str, words: list[str]) -> None:
    write(tmp_path, "bad", content)
    with pytest.raises(BuildError) as raised:
        discover(tmp_path)[0].build()
    for word in words:
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_source_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe\x00x = 1")
    with pytest.raises(BuildError, match=r"bad\.py"):
        discover(tmp_path)[0].load()
