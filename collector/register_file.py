"""Keeps the file_sd file as the register is, whoever changes either."""

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from .logs import fields
from .register import count, write_file
from .telemetry import Telemetry

_CHECK_SECONDS = 5.0
_log = logging.getLogger("collector.register")


class RegisterFile:
    """Writes the file when the register has changed, and when the file is not as it was written."""

    def __init__(self, path: Path, telemetry: Telemetry, clock: Callable[[], float]) -> None:
        self._path = path
        self._telemetry = telemetry
        self._clock = clock
        self._version = -1
        """The register's version in the file; -1 as long as it was not written."""
        self._stamp: tuple[int, int, int] | None = None
        self._next_check = 0.0
        self._failing = False

    def sync(self, connection: sqlite3.Connection) -> None:
        """Writes the file if it must be. A file that cannot be written is tried again later."""
        [version] = connection.execute("SELECT version FROM register").fetchone()
        if version == self._version and not self._was_touched():
            return
        if self._failing and self._clock() < self._next_check:
            return
        try:
            write_file(connection, self._path)
        except OSError as error:
            self._failed(error)
        else:
            self._version, self._stamp, self._failing = version, self._now(), False
            self._telemetry.set_now(targets=count(connection))

    def _was_touched(self) -> bool:
        if self._clock() < self._next_check:
            return False
        self._next_check = self._clock() + _CHECK_SECONDS
        if self._now() == self._stamp:
            return False
        _log.warning("the register's file was changed by another hand; writing it anew", extra=fields(file=self._path))
        return True

    def _now(self) -> tuple[int, int, int] | None:
        try:
            state = os.stat(self._path)
        except OSError:
            return None
        return state.st_ino, state.st_size, state.st_mtime_ns

    def _failed(self, error: OSError) -> None:
        if not self._failing:
            _log.error("the register's file cannot be written", extra=fields(file=self._path, error=error.strerror))
        self._failing = True
        self._next_check = self._clock() + _CHECK_SECONDS
        self._telemetry.failure("register")
