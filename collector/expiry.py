"""What time does: jobs stop waiting for their run, sources end, old rows go."""

import logging
import sqlite3
from functools import partial

import msgspec

from .identity import plan_release
from .journal import Journal, name_spans
from .logs import fields
from .model import NO_RUN, Model, Source
from .plan import Plan
from .report import OpenState, Span
from .settings import Settings
from .telemetry import Telemetry

KEPT_SOURCES = 200_000
"""Sources that are over and still known, so that what they send again is not counted twice."""

_KEPT_SECONDS = 86_400.0
_log = logging.getLogger("collector.expiry")
_decode_open = msgspec.json.Decoder(list[OpenState]).decode


def plan_releases(model: Model, settings: Settings) -> Plan:
    """Lets go on what has waited for its run for long enough."""
    plan = Plan()
    for job in model.jobs.values():
        if job.run is None and not job.released and model.clock - job.since >= settings.hold_seconds:
            _log.warning(
                "no process of the job has named its run; its data goes on without one",
                extra=fields(job=job.name, sources=len(job.members), waited_seconds=settings.hold_seconds),
            )
            plan_release(plan, model, job)
    return plan


def plan_ends(model: Model, journal: Journal, settings: Settings, telemetry: Telemetry) -> Plan:
    """Ends the sources that have finished or fallen silent: their totals stay with their run."""
    plan = Plan()
    over = [source for source in model.sources.values() if _is_over(source, model.clock, settings)]
    if not over:
        return plan
    for source in over:
        if settings.otlp_endpoint:
            plan.then(partial(telemetry.spans, "ended", _plan_open_states(plan, journal, source)))
        _log.info("a source is over", extra=fields(source=source.uid, host=source.host, finished=source.final))
    rows = [(source.row,) for source in over]
    plan.sql("UPDATE sources SET over = 1, open = '[]' WHERE row = ?", *rows)
    plan.fold(model, over)
    plan.sql("UPDATE pages SET baselines = totals WHERE source = ?", *rows)
    plan.sql("DELETE FROM targets WHERE source = ?", *rows)
    _plan_forgotten_jobs(plan, model, over)
    for source in over:
        plan.then(partial(model.remove_source, source))
    return plan


def plan_purge(connection: sqlite3.Connection, model: Model, now: float) -> Plan:
    """Forgets sources that were over long ago and names of series that no one reports; `now` is since 1970."""
    plan = Plan()
    old = "over = 1 AND (heard_at < ? OR row < ?) AND row NOT IN (SELECT source FROM pages)"
    plan.sql(f"DELETE FROM sources WHERE {old}", (now - _KEPT_SECONDS, model.next_row - KEPT_SOURCES))  # noqa: S608
    for family in model.unused_families():
        kept = "SELECT 1 FROM series WHERE name = ? UNION ALL SELECT 1 FROM folded WHERE name = ? LIMIT 1"
        if connection.execute(kept, (family.name, family.name)).fetchone() is None:
            plan.sql("DELETE FROM families WHERE name = ?", (family.name,))
            plan.then(partial(model.remove_family, family))
    return plan


def _is_over(source: Source, clock: float, settings: Settings) -> bool:
    silent = clock - source.heard
    return silent >= settings.silent_seconds or (source.final and silent >= settings.final_seconds)


def _plan_open_states(plan: Plan, journal: Journal, source: Source) -> int:
    """A process that died in a state was in it until its last report."""
    spans = [
        Span(
            number=source.span_number + place,
            kind="state",
            name=state.state,
            start_ns=state.piece_start_ns,
            end_ns=source.sent_ns,
            lane=state.lane,
            state=state.state,
            interval_id=state.interval_id,
        )
        for place, state in enumerate(_decode_open(source.open), start=1)
        if state.piece_start_ns < source.sent_ns
    ]
    if spans:
        journal.plan_append(plan, (source.uid, source.host, source.pid, source.job), source.run or NO_RUN, spans)
    return len(spans)


def _plan_forgotten_jobs(plan: Plan, model: Model, over: list[Source]) -> None:
    gone = set(over)
    for job in model.jobs.values():
        if job.members <= gone:
            plan.sql("DELETE FROM jobs WHERE name = ?", (job.name,))
            name_spans(plan, job.name, job.run or NO_RUN)
