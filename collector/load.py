"""Reads back from the database what an earlier process of the collector knew."""

import sqlite3
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from .identity import resolve
from .model import NO_RUN, Family, Job, Model, Named, Part, RunName, Source

PAGE = 64
"""Totals in a row of the table `pages`: one report rewrites few rows, and none of them is long."""

_SOURCE = (
    "row, uid, host, pid, job, project, experiment, left_project, left_experiment,"
    " sequence, span_number, sent_ns, heard_at, final, open, targets"
)
_decode_totals = msgspec.msgpack.Decoder(list[tuple[float, ...]]).decode
_decode_total = msgspec.msgpack.Decoder(tuple[float, ...]).decode
_decode_buckets = msgspec.msgpack.Decoder(tuple[float, ...]).decode


def load(connection: sqlite3.Connection) -> Model:
    """The model as the database has it. Gauges are not in it; sources are asked for everything."""
    model = Model()
    _load_families(connection, model)
    _load_jobs(connection, model)
    [last] = connection.execute("SELECT coalesce(max(row), 0) FROM sources").fetchone()
    model.next_row = last + 1
    for row in connection.execute(f"SELECT {_SOURCE} FROM sources WHERE over = 0 ORDER BY row").fetchall():  # noqa: S608
        source = _source(row)
        read_parts(connection, model, source)
        _settle(model, source)
    _load_folded(connection, model)
    _forget_jobs(connection, model)
    return model


def read_over(connection: sqlite3.Connection, model: Model, uid: str) -> Source | None:
    """A source that was taken for gone and comes back, not yet in the model; None if it is not known."""
    row = connection.execute(f"SELECT {_SOURCE} FROM sources WHERE uid = ?", (uid,)).fetchone()  # noqa: S608
    if row is None:
        return None
    source = _source(row)
    read_parts(connection, model, source)
    source.own_run, source.job = None, ""
    return source


def left_no_run(connection: sqlite3.Connection, uid: str) -> bool:
    """Whether this is a source that was taken for gone, with totals that are folded into those of no run."""
    query = "SELECT 1 FROM sources WHERE uid = ? AND left_project = ? AND left_experiment = ?"
    return connection.execute(query, (uid, *NO_RUN)).fetchone() is not None


def read_parts(connection: sqlite3.Connection, model: Model, source: Source) -> None:
    """Gives a source the totals that the database keeps of it."""
    totals: list[tuple[float, ...]] = []
    baselines: list[tuple[float, ...] | None] = []
    pages = connection.execute("SELECT totals, baselines FROM pages WHERE source = ? ORDER BY page", (source.row,))
    for encoded, below in pages:
        of_page = _decode_totals(encoded)
        under = _decode_totals(below) if below is not None else []
        totals += of_page
        baselines += [base for _, base in zip_longest(of_page, under)]
    named = connection.execute(
        "SELECT number, name, text, project, experiment FROM series WHERE source = ? ORDER BY number", (source.row,)
    )
    for number, name, text, project, experiment in named:
        part = Part(model.families[name], text, _named(project, experiment), number)
        part.values, part.baseline = totals[number], baselines[number]
        source.parts[part.key] = part
        source.numbered.append(part)


def _source(row: Sequence[Any]) -> Source:
    row_id, uid, host, pid, job, project, experiment, left_project, left_experiment = row[:9]
    sequence, span_number, sent_ns, heard_at, final, open_, targets = row[9:]
    return Source(
        uid,
        row_id,
        host,
        pid,
        job,
        own_run=_run(project, experiment),
        left=_run(left_project, left_experiment),
        sequence=sequence,
        span_number=span_number,
        sent_ns=sent_ns,
        heard_at=heard_at,
        final=bool(final),
        open=open_,
        targets=targets,
    )


def _run(project: str | None, experiment: str | None) -> RunName | None:
    return None if project is None or experiment is None else (project, experiment)


def _named(project: str | None, experiment: str | None) -> Named:
    return None if project is None and experiment is None else (project, experiment)


def _settle(model: Model, source: Source) -> None:
    model.add_source(source)
    if source.job:
        job = model.jobs.setdefault(source.job, Job(source.job, 0.0))
        job.members.add(source)
    run = resolve(source.own_run, source.job, model.jobs.get(source.job))
    if run is not None:
        model.join(source, run)


def _load_families(connection: sqlite3.Connection, model: Model) -> None:
    for name, kind, help_, buckets in connection.execute("SELECT name, kind, help, buckets FROM families"):
        family = model.families.get(name) or model.add_family(Family(name, kind, help_, _decode_buckets(buckets)))
        if family is not None:
            family.saved = True


def _load_jobs(connection: sqlite3.Connection, model: Model) -> None:
    for name, project, experiment, released in connection.execute("SELECT * FROM jobs"):
        model.jobs[name] = Job(name, 0.0, _run(project, experiment), bool(released))


def _load_folded(connection: sqlite3.Connection, model: Model) -> None:
    rows = connection.execute("SELECT project, experiment, name, text, totals FROM folded")
    for project, experiment, name, text, totals in rows:
        if (project, experiment) in model.runs:
            model.fold(model.families[name], (project, experiment), text, _decode_total(totals))


def _forget_jobs(connection: sqlite3.Connection, model: Model) -> None:
    for job in [job for job in model.jobs.values() if not job.members]:
        del model.jobs[job.name]
        connection.execute("DELETE FROM jobs WHERE name = ?", (job.name,))
