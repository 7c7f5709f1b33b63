"""The register of scrape targets: rows of the database, shown to Prometheus as a file and over HTTP.

The database is the truth and the file is output: what is written into the file by hand is
overwritten. `OfflineRegister` is for programs other than the collector, whether it runs or not.
"""

import fcntl
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .database import connect, run
from .errors import Refused
from .labels import RUN_LABELS
from .model import RunName
from .plan import Plan
from .targets import Registration

BY_HAND = 0
"""The source of targets that no process reported: they stay until they are deleted."""

_COLUMNS = "job_name, target, source, labels, project, experiment, changed"
_INSERT = f"INSERT OR REPLACE INTO targets ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  our own names


@dataclass(frozen=True, slots=True)
class Registered:
    """A target as Prometheus is told of it: `labels` hold its run's, where it has one."""

    job_name: str
    target: str
    labels: dict[str, str]
    by_hand: bool


def plan_of_source(plan: Plan, source: int, run_name: RunName | None, groups: Sequence[Registration]) -> None:
    """Plans that these are the targets of a source, rather than those it had."""
    plan.sql("DELETE FROM targets WHERE source = ?", (source,))
    _plan_rows(plan, source, run_name, groups)


def plan_by_hand(plan: Plan, registration: Registration) -> None:
    """Plans to register targets that stay until they are deleted."""
    _plan_rows(plan, BY_HAND, ("", ""), [registration])


def name_targets(plan: Plan, source: int, run_name: RunName) -> None:
    """Plans that a source's targets belong to a run."""
    plan.sql("UPDATE targets SET project = ?, experiment = ? WHERE source = ?", (*run_name, source))


def plan_removal(plan: Plan, job_name: str, target: str) -> None:
    plan.sql("DELETE FROM targets WHERE job_name = ? AND target = ?", (job_name, target))


def _plan_rows(plan: Plan, source: int, run_name: RunName | None, groups: Sequence[Registration]) -> None:
    changed = time.time_ns()
    plan.sql(
        _INSERT,
        *(
            (group.job_name, one.target, source, json.dumps(dict(one.labels)), *(run_name or (None, None)), changed)
            for group in groups
            for one in group.targets
        ),
    )


def registered(connection: sqlite3.Connection) -> list[Registered]:
    """Every target whose run is settled, once: what was registered last stands, and above it what was by hand."""
    found: dict[tuple[str, str], Registered] = {}
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM targets WHERE project IS NOT NULL"  # noqa: S608  our own names
        " ORDER BY job_name, target, source = 0, changed"
    )
    for job_name, target, source, labels, project, experiment, _changed in rows:
        own = {name: value for name, value in zip(RUN_LABELS, (project, experiment), strict=True) if value}
        before = found.get((job_name, target))
        by_hand = source == BY_HAND
        under = before.labels if by_hand and before else {}
        found[job_name, target] = Registered(job_name, target, {**under, **own, **json.loads(labels)}, by_hand)
    return list(found.values())


def count(connection: sqlite3.Connection, job_name: str | None = None, but_of: int = -1) -> int:
    """How many targets there are, of one job or of all; those that wait for their run count.

    What only the source `but_of` has registered does not count.
    """
    where = "(? IS NULL OR job_name = ?) AND source <> ?"
    query = f"SELECT count(*) FROM (SELECT DISTINCT job_name, target FROM targets WHERE {where})"  # noqa: S608
    [number] = connection.execute(query, (job_name, job_name, but_of)).fetchone()
    return int(number)


def check_room(connection: sqlite3.Connection, more: int, limit: int) -> None:
    """Raises Refused if so many more targets are too many."""
    if count(connection) + more > limit:
        raise too_many_targets(limit)


def too_many_targets(limit: int) -> Refused:
    return Refused(429, "targets_limit", f"More than {limit} scrape targets are registered; remove some first.")


def discovery(targets: Sequence[Registered]) -> list[dict[str, Any]]:
    """The targets in the format of Prometheus's file_sd and http_sd."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for one in targets:
        labels = {"job": one.job_name, **one.labels}
        groups.setdefault(tuple(sorted(labels.items())), []).append(one.target)
    return [{"targets": members, "labels": dict(labels)} for labels, members in groups.items()]


def write_file(connection: sqlite3.Connection, path: Path) -> bytes:
    """Writes the file_sd file whole or not at all, one process at a time; returns what it wrote. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        content = json.dumps(discovery(registered(connection)), indent=1).encode() + b"\n"
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)  # Prometheus may run as another user
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    return content


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class OfflineRegister:
    """Adds, lists and removes targets from another process than the collector's, which takes notice within seconds.

    with OfflineRegister(settings.database, settings.register) as register:
        register.add(read_registration({"job_name": "node-exporter", "targets": ["10.0.0.1:9100"]}))
    """

    def __init__(self, database: Path, file: Path) -> None:
        """`database` and `file` are those of the collector's settings. Raises sqlite3.Error, ConfigError or OSError."""
        database.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        self._connection = connect(database)

    def __enter__(self) -> "OfflineRegister":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._connection.close()

    def add(self, registration: Registration) -> int:
        """Registers targets until they are removed; returns how many its job has then."""
        plan = Plan()
        plan_by_hand(plan, registration)
        self._carry_out(plan)
        return count(self._connection, registration.job_name)

    def targets(self) -> list[Registered]:
        return registered(self._connection)

    def remove(self, job_name: str, target: str) -> bool:
        """Removes a target; returns whether there was one."""
        before = count(self._connection, job_name)
        plan = Plan()
        plan_removal(plan, job_name, target)
        self._carry_out(plan)
        return count(self._connection, job_name) < before

    def _carry_out(self, plan: Plan) -> None:
        run(self._connection, plan.statements)
        write_file(self._connection, self._file)
