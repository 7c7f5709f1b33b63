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
_WRITE_SECONDS = 1.0
"""At least so much is between two writings, as each writes every target and waits for the disk."""

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
        self._counted = -1
        self._connection: sqlite3.Connection | None = None
        self._next_check = 0.0
        self._next_write = 0.0
        self._failing = False

    def sync(self, connection: sqlite3.Connection, at_once: bool = False) -> None:
        """Writes the file if it must be, `at_once` or when the last writing is long enough ago.

        A file that cannot be written is tried again later.
        """
        if connection is not self._connection:  # another database, whose versions mean other targets
            self._connection, self._version, self._counted, self._next_write = connection, -1, -1, 0.0
        [version] = connection.execute("SELECT version FROM register").fetchone()
        if version != self._counted:
            self._counted = version
            self._telemetry.set_now(targets=count(connection))
        if version == self._version and not self._was_touched():
            return
        if self._failing and self._clock() < self._next_check:
            return
        if self._clock() < self._next_write and not at_once:
            return
        try:
            write_file(connection, self._path)
        except OSError as error:
            self._failed(error)
        else:
            if self._version != -1:  # the first change after a start need not wait
                self._next_write = self._clock() + _WRITE_SECONDS
            self._version, self._stamp, self._failing = version, self._now(), False

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
