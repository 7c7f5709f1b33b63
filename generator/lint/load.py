"""Dashboard files: which there are, and their text as JSON."""

import codecs
import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from generator.lint.findings import LintInputError

MAX_FILE_BYTES = 20 * 1024 * 1024
"""The largest dashboards that people have are a few MB: a larger file is something else."""

_Read = TypeVar("_Read")
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def find_files(paths: Iterable[str | Path]) -> tuple[list[Path], list[LintInputError]]:
    """The files to lint, each once: those given, and every .json below the folders given.

    Folders whose name begins with a dot are left out. What is not there is in the second list.
    """
    found: dict[Path, Path] = {}
    missing: list[LintInputError] = []
    for path in map(Path, paths):
        try:
            for file in _below(path) if path.is_dir() else [path]:
                found.setdefault(file.resolve(), file)
        except LintInputError as fault:
            missing.append(fault)
        except (OSError, ValueError, RuntimeError) as fault:
            missing.append(LintInputError(f"cannot be read: {_words(fault)}", path.as_posix()))
    return list(found.values()), missing


def _below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for where, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(where, name) for name in sorted(names) if name.endswith(".json")]
    if not found:
        raise LintInputError("holds no .json file", folder.as_posix())
    return found


def _raise(fault: OSError) -> NoReturn:
    raise fault


def read_text(path: Path) -> str:
    """The text of a dashboard file. Raises LintInputError if it is too large, no file or not UTF-8."""
    file = path.as_posix()
    status = _tried(path.stat, file)
    if not stat.S_ISREG(status.st_mode):
        raise LintInputError("is no regular file", file)
    if status.st_size > MAX_FILE_BYTES:
        raise LintInputError(_too_large(status.st_size), file)
    return decode(_tried(path.read_bytes, file), file)


def _tried(read: Callable[[], _Read], file: str) -> _Read:
    try:
        return read()
    except (OSError, ValueError) as fault:
        raise LintInputError(f"cannot be read: {_words(fault)}", file) from fault


def decode(content: bytes, file: str = "") -> str:
    """UTF-8, with or without a byte order mark, as text. Raises LintInputError for another encoding."""
    for mark, encoding in _OTHER_ENCODINGS:
        if content.startswith(mark):
            raise LintInputError(f"is encoded in {encoding}; save it as UTF-8", file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = content[: fault.start]
        line = before.count(b"\n") + 1
        column = fault.start - (before.rfind(b"\n") + 1) + 1
        raise LintInputError("is not encoded in UTF-8; save it as UTF-8", file, line, column) from fault


def parse_json(text: str, file: str = "") -> Any:
    """The JSON in a text. Raises LintInputError that says where it ends being JSON."""
    if not text.strip():
        raise LintInputError("is empty", file)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as fault:
        raise LintInputError(f"is not JSON: {_lower(fault.msg)}", file, fault.lineno, fault.colno) from fault
    except RecursionError as fault:
        raise LintInputError("is nested too deeply to be read", file) from fault
    except ValueError as fault:
        raise LintInputError(f"is not JSON that can be read: {_lower(str(fault))}", file) from fault


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"a value is {name}, which JSON does not have")


def _too_large(size: int) -> str:
    limit = MAX_FILE_BYTES // 1024 // 1024
    return f"has {size / 1024 / 1024:.0f} MB; files over {limit} MB are not read, since no dashboard is so large"


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def _words(fault: Exception) -> str:
    return _lower((fault.strerror if isinstance(fault, OSError) else "") or str(fault))
