"""`rli dashboards` as a user runs it: another process, its output and its exit code."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ["quick_start_demo", "verl_trainer_v1_with_sglang_engine", "verl_trainer_v1_with_vllm_engine"]
RLI = [sys.executable, "-c", "from rli.main import main; main()"]


def rli(*arguments: str, **more: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*RLI, *arguments], capture_output=True, text=True, timeout=60, **more)  # type: ignore[call-overload,no-any-return]


def one_sentence(text: str) -> bool:
    return text.startswith("rli: ") and text.count("\n") == 1 and "Traceback" not in text


def test_build_writes_every_dashboard_and_says_so(tmp_path: Path) -> None:
    done = rli("dashboards", "build", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == NAMES
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        str(tmp_path / "out" / f"{name}.json") for name in NAMES
    ]
    assert done.stderr == ""


def test_build_is_the_same_every_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        rli("dashboards", "build", "--out", str(tmp_path / folder))
    for name in NAMES:
        one, two = ((tmp_path / folder / f"{name}.json").read_bytes() for folder in ("one", "two"))
        assert one == two


def test_build_only_what_is_named_and_say_it_as_json(tmp_path: Path) -> None:
    done = rli("dashboards", "build", "--out", str(tmp_path), "--only", "quick_start_demo", "--json")
    assert json.loads(done.stdout) == {
        "dashboards": [
            {"name": "quick_start_demo", "panels": 6, "queries": 6, "path": str(tmp_path / "quick_start_demo.json")}
        ]
    }
    assert [path.name for path in tmp_path.iterdir()] == ["quick_start_demo.json"]


def test_an_unknown_name_is_one_sentence_and_writes_nothing(tmp_path: Path) -> None:
    done = rli("dashboards", "build", "--out", str(tmp_path / "out"), "--only", "nonsense")
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "'nonsense'" in done.stderr
    assert all(name in done.stderr for name in NAMES)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [["show", "nonsense"], ["build", "--only", "nonsense"]])
def test_unknown_names_have_the_same_answer_everywhere(command: list[str]) -> None:
    done = rli("dashboards", *command)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True)


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = rli("dashboards", "build", "--out", str(tmp_path / "file" / "out"))
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "--out" in done.stderr


def test_a_source_that_raises_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(
        "from generator.dashboard import Dashboard\n"
        "DASHBOARD = Dashboard(name='good', description='d', sections=[], variables=[])\n"
    )
    (tmp_path / "broken.py").write_text("raise RuntimeError('on purpose')\n")
    script = (
        f"import pathlib, dashboards_src.dashboards as d; d.FOLDER = pathlib.Path({str(tmp_path)!r});"
        "from rli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "dashboards", "build", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "broken.py, line 1: RuntimeError: on purpose" in done.stderr
    assert not (tmp_path / "out").exists()


def test_list_says_what_each_is_for() -> None:
    plain = rli("dashboards", "list").stdout
    listed = json.loads(rli("dashboards", "list", "--json").stdout)["dashboards"]
    assert [each["name"] for each in listed] == NAMES
    assert all(each["description"] in plain for each in listed)


def test_show_is_the_outline() -> None:
    shown = rli("dashboards", "show", "quick_start_demo").stdout
    golden = Path(__file__).parents[1] / "golden" / "quick_start_demo.txt"
    assert shown == golden.read_text(encoding="utf-8")


def test_a_reader_that_goes_away_is_no_error() -> None:
    shell = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | head -n 1', "bash", *RLI, "dashboards", "show", NAMES[2]],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in shell.stderr


def test_an_output_that_is_full_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*RLI, "dashboards", "show", NAMES[2]], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, one_sentence(done.stderr)) == (2, True)
    assert "No space left" in done.stderr


@pytest.mark.parametrize("arguments", [["dashboards", "bild"], ["nonsense"], ["dashboards", "build", "--nonsense"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    done = rli(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_help_names_every_command() -> None:
    assert "dashboards" in rli("--help").stdout
    for command in ("build", "list", "show", "lint"):
        assert command in rli("dashboards", "--help").stdout


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*RLI, "dashboards", "build", "--out", str(tmp_path)], stdout=subprocess.PIPE, stderr=slave
    )
    os.close(slave)
    process.communicate(timeout=60)
    assert b"Building" in os.read(master, 100_000)
    os.close(master)


@pytest.mark.parametrize("missing", ["click", "attr", "grafanalib", "promql_parser"])
def test_without_the_extra_or_with_a_part_of_it_one_sentence_says_which(missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; from rli.main import main; main()"
    lint = ["dashboards", "lint"]
    done = subprocess.run([sys.executable, "-c", script, *lint], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert one_sentence(done.stderr)
    assert "pip install 'rl-insight[server]'" in done.stderr
