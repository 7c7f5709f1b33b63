"""Writes built dashboards into a folder: all of them or, if anything fails, none half."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_all(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Writes each content under its file name and returns the paths. Raises OSError.

    Every file is first written beside its place and then moved there, so that a reader never
    sees half of one and a full disk leaves the old ones as they were.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as scratch:
        for name, content in contents.items():
            (Path(scratch) / name).write_bytes(content)
        for name in contents:
            os.replace(Path(scratch) / name, folder / name)
    return [folder / name for name in contents]
