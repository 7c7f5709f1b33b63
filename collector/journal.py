"""The journal: spans that were accepted and not yet sent, in the database, bounded by bytes.

A row holds the spans of one report. While the run of their job is not known they have no project,
and are passed over without holding others up.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from .model import RunName
from .plan import Plan
from .report import Span

ROW_BYTES = 200
"""What a row takes besides its spans, about."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Chunk:
    """A row of the journal, with the identity that its spans get."""

    id: int
    source: str
    host: str
    pid: int
    run: RunName
    count: int
    data: bytes


class Journal:
    """How many spans wait, and in how many bytes. The writer's thread only."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spans = 0
        self.bytes = 0
        self._next_id = 1

    def load(self, connection: sqlite3.Connection) -> None:
        """Counts what an earlier process left."""
        row = connection.execute(
            "SELECT coalesce(sum(count), 0), coalesce(sum(bytes), 0), coalesce(max(id), 0) FROM spans"
        ).fetchone()
        self.spans, self.bytes, last = row
        self._next_id = last + 1

    def plan_append(
        self, plan: Plan, who: tuple[str, str, int, str], run: RunName | None, spans: Sequence[Span]
    ) -> None:
        """Plans to add spans of the source, host, pid and job `who`."""
        data = _encode(spans)
        size = len(data) + ROW_BYTES
        # Numbers are given out at once: those of a plan that fails are left out, never given twice.
        row = (self._next_id, *who, *(run or (None, None)), len(spans), size, data)
        self._next_id += 1
        plan.sql("INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        plan.then(partial(self._grow, len(spans), size))

    def plan_bound(self, plan: Plan, connection: sqlite3.Connection) -> int:
        """Plans to drop the oldest rows that are too many; returns how many spans go."""
        excess = self.bytes - self.limit
        if excess <= 0:
            return 0
        spans = size = last = 0
        for id_, count, bytes_ in connection.execute("SELECT id, count, bytes FROM spans ORDER BY id"):
            last, spans, size = id_, spans + count, size + bytes_
            if size >= excess:
                break
        plan.sql("DELETE FROM spans WHERE id <= ?", (last,))
        plan.then(partial(self._grow, -spans, -size))
        return spans

    def plan_remove(self, plan: Plan, connection: sqlite3.Connection, ids: Sequence[int]) -> None:
        """Plans to remove rows that were sent, those of them that are still there."""
        marks = ",".join("?" * len(ids))
        query = f"SELECT coalesce(sum(count), 0), coalesce(sum(bytes), 0) FROM spans WHERE id IN ({marks})"  # noqa: S608
        spans, size = connection.execute(query, ids).fetchone()
        plan.sql("DELETE FROM spans WHERE id = ?", *((one,) for one in ids))
        plan.then(partial(self._grow, -spans, -size))

    def _grow(self, spans: int, size: int) -> None:
        self.spans += spans
        self.bytes += size


def ready(connection: sqlite3.Connection, spans: int, limit_bytes: int) -> list[Chunk]:
    """The oldest rows that can be sent: as many as hold about so many spans or bytes, at least one."""
    chunks: list[Chunk] = []
    count = size = 0
    rows = connection.execute(
        "SELECT id, source, host, pid, project, experiment, count, data FROM spans"
        " WHERE project IS NOT NULL ORDER BY id"
    )
    for id_, source, host, pid, project, experiment, in_row, data in rows:
        count, size = count + in_row, size + len(data)
        if chunks and (count > spans or size > limit_bytes):
            break
        chunks.append(Chunk(id_, source, host, pid, (project, experiment), in_row, data))
    rows.close()
    return chunks


def name_spans(plan: Plan, job: str, run: RunName) -> None:
    """Plans that a job's spans that wait for its run get this one."""
    plan.sql("UPDATE spans SET project = ?, experiment = ? WHERE job = ? AND project IS NULL", (*run, job))


def move_spans(plan: Plan, source: str, job: str, run: RunName | None) -> None:
    """Plans that a source's spans that wait belong to another job, or to the run where it is known."""
    plan.sql(
        "UPDATE spans SET job = ?, project = ?, experiment = ? WHERE source = ? AND project IS NULL",
        (job, *(run or (None, None)), source),
    )
