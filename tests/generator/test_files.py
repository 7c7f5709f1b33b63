"""Writing is all or nothing."""

import os
from pathlib import Path

import pytest

from generator.files import write_all


def test_files_are_written_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    paths = write_all(folder, {"a.json": b"1", "b.json": b"2"})
    assert paths == [folder / "a.json", folder / "b.json"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a.json": b"1", "b.json": b"2"}


def test_a_failure_half_way_leaves_the_old_files(tmp_path: Path) -> None:
    write_all(tmp_path, {"a.json": b"old", "b.json": b"old"})
    with pytest.raises(OSError, match="name"):
        write_all(tmp_path, {"a.json": b"new", "x" * 300 + ".json": b"name too long"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.json": b"old", "b.json": b"old"}


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(tmp_path, {"a.json": b"old"})

    def full(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_all(tmp_path, {"a.json": b"new"})
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"old"


def test_two_writers_at_once_both_end_with_whole_files(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    contents = [{"a.json": bytes([48 + n]) * 100_000} for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda content: write_all(tmp_path, content), contents))
    assert (tmp_path / "a.json").read_bytes() in [content["a.json"] for content in contents]
    assert os.listdir(tmp_path) == ["a.json"]
