"""The database file: the one place where what was acknowledged is kept.

Write-ahead logging lets a commit survive the death of the process at any moment. With
`synchronous=FULL` each commit also waits for the disk, so that it survives power loss; reports
that arrive together share a commit, which keeps that cheap.
"""

import logging
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .errors import ConfigError
from .logs import fields

VERSION = 1
_BUSY_SECONDS = 5.0
_log = logging.getLogger("collector.database")

Statement = tuple[str, Sequence[Sequence[Any]]]
"""A statement, and the rows of values to run it with."""

_SCHEMA = """
CREATE TABLE sources (
    row INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, host TEXT NOT NULL, pid INTEGER NOT NULL, job TEXT NOT NULL,
    project TEXT, experiment TEXT,            -- its own run, as it was told
    left_project TEXT, left_experiment TEXT,  -- the run in whose folded totals its baselines are counted
    sequence INTEGER NOT NULL, span_number INTEGER NOT NULL, sent_ns INTEGER NOT NULL, heard_at REAL NOT NULL,
    final INTEGER NOT NULL, over INTEGER NOT NULL DEFAULT 0, open BLOB NOT NULL, targets BLOB NOT NULL);
CREATE TABLE jobs (
    name TEXT PRIMARY KEY, project TEXT, experiment TEXT, released INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE families (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, help TEXT NOT NULL, buckets BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE series (  -- what the numbers of a source's totals mean
    source INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    project TEXT, experiment TEXT, PRIMARY KEY (source, number)) WITHOUT ROWID;
CREATE TABLE pages (   -- a source's totals, PAGE of them a row
    source INTEGER NOT NULL, page INTEGER NOT NULL, totals BLOB NOT NULL, baselines BLOB,
    PRIMARY KEY (source, page)) WITHOUT ROWID;
CREATE TABLE folded (  -- what sources that are gone have left in their run
    project TEXT NOT NULL, experiment TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, totals BLOB NOT NULL,
    PRIMARY KEY (project, experiment, name, text)) WITHOUT ROWID;
CREATE TABLE spans (   -- the journal: what one report brought; no project while its job's run is not known
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, job TEXT NOT NULL,
    project TEXT, experiment TEXT, count INTEGER NOT NULL, bytes INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX spans_ready ON spans (id) WHERE project IS NOT NULL;
CREATE INDEX spans_held ON spans (job) WHERE project IS NULL;
CREATE TABLE targets ( -- source 0 is the HTTP API or the command line; no project while the run is not known
    job_name TEXT NOT NULL, target TEXT NOT NULL, source INTEGER NOT NULL, labels TEXT NOT NULL,
    project TEXT, experiment TEXT, changed INTEGER NOT NULL,
    PRIMARY KEY (job_name, target, source)) WITHOUT ROWID;
CREATE INDEX targets_source ON targets (source);
CREATE TABLE register (version INTEGER NOT NULL);  -- goes up with every change of the targets, whoever makes it
INSERT INTO register VALUES (1);
CREATE TRIGGER target_added AFTER INSERT ON targets BEGIN UPDATE register SET version = version + 1; END;
CREATE TRIGGER target_changed AFTER UPDATE ON targets BEGIN UPDATE register SET version = version + 1; END;
CREATE TRIGGER target_removed AFTER DELETE ON targets BEGIN UPDATE register SET version = version + 1; END;
"""


def connect(path: Path, synchronous: str = "full") -> sqlite3.Connection:
    """A connection to the database, which is made where there is none.

    Raises sqlite3.DatabaseError if the file is damaged, ConfigError if it was written by a newer version.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        # Freed pages can be given back after an outage has made the journal large; only a new file takes this.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous.upper()}")
        _create(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_database(path: Path, synchronous: str) -> sqlite3.Connection:
    """As `connect`, but a damaged file is moved aside and a new one begun: better new data than none."""
    try:
        connection = connect(path, synchronous)
        [result] = connection.execute("PRAGMA quick_check(1)").fetchone()
        if result == "ok":
            return connection
        connection.close()
        damage = str(result)
    except sqlite3.OperationalError as error:
        raise ConfigError(f"The database {path} cannot be opened: {error}; check the folder and the disk.") from None
    except sqlite3.DatabaseError as error:
        damage = str(error)
    aside = _move_aside(path)
    _log.error("the database is damaged; moved it aside and began a new one", extra=fields(aside=aside, damage=damage))
    return connect(path, synchronous)


def run(connection: sqlite3.Connection, statements: Iterable[Statement]) -> None:
    """Runs the statements in one transaction: all of them or, with an error, none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql, rows in statements:
            if len(rows) == 1:
                connection.execute(sql, rows[0])
            else:
                connection.executemany(sql, rows)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def is_trouble(error: Exception) -> bool:
    """Whether the disk, the file or the connection is to blame, rather than what was asked.

    The values are checked before they are stored, so whatever the database refuses may be taken another time.
    """
    return isinstance(error, sqlite3.Error)


def _create(connection: sqlite3.Connection, path: Path) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    if version > VERSION:
        raise ConfigError(
            f"The database {path} was written by a newer version of rl-insight; upgrade, or use another data_dir."
        )
    connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")


def _move_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(aside.with_name(aside.name + suffix))
    return aside
