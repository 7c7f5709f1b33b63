"""What one report changes: its source, series, spans and targets, planned for one transaction."""

import logging
import sqlite3
from dataclasses import dataclass
from functools import partial

import msgspec

from .errors import Refused
from .identity import names_a_run, plan_naming
from .journal import Journal
from .load import left_no_run, read_over
from .logs import fields
from .model import NO_RUN, Model, RunName, Source
from .plan import Plan
from .register import count, plan_of_source, too_many_targets
from .report import Report
from .samples import Samples
from .settings import Settings
from .targets import Registration, ScrapeTarget, check_job_name, check_target
from .telemetry import Telemetry

_log = logging.getLogger("collector.ingest")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client is told once its report is safe."""

    acknowledged: int
    full: bool


class Ingest:
    """Plans reports. The writer's thread only."""

    def __init__(
        self, connection: sqlite3.Connection, model: Model, journal: Journal, settings: Settings, telemetry: Telemetry
    ) -> None:
        self._connection = connection
        self._model = model
        self._journal = journal
        self._settings = settings
        self._telemetry = telemetry

    def stands_alone(self, report: Report) -> bool:
        """Whether the report must be planned from a model in which all earlier ones are in effect."""
        source = self._model.sources.get(report.source.id)
        if source is None:
            return bool(report.run or report.targets) or left_no_run(self._connection, report.source.id)
        if report.targets and _encode(report.targets) != source.targets:
            return True
        return names_a_run(source, report.job, _run(report))

    def plan(self, report: Report, now: float) -> tuple[Plan, Answer]:
        """What the report changes, and the answer once that is stored; `now` is seconds since 1970.

        Raises Refused for a report that cannot be accepted.
        """
        source = self._model.sources.get(report.source.id)
        known = source is not None
        if source is None:
            source = self._unknown(report)
        plan = Plan()
        plan.then(partial(_hear, source, self._model.clock, now))
        if report.sequence <= source.sequence:
            plan.then(partial(self._telemetry.report, "repeated"))
            if known and not source.shared and _is_of_another(source, report):
                plan.then(partial(_say_shared, source, report))
            return plan, Answer(report.sequence, not source.complete)
        samples = Samples(self._model, source, report, self._settings)
        run = plan_naming(plan, self._model, source, report.job, _run(report))
        self._plan_source(plan, source, report, now, known)
        if not known:
            self._plan_joining(plan, source, run)
        samples.plan(plan)
        self._plan_spans(plan, source, report, run)
        self._plan_targets(plan, source, report, run)
        plan.then(partial(self._count, samples, report))
        complete = source.complete or report.full
        return plan, Answer(report.sequence, not complete)

    def _unknown(self, report: Report) -> Source:
        if len(self._model.sources) >= self._settings.max_sources:
            limit = self._settings.max_sources
            raise Refused(429, "sources_limit", f"{limit} processes report already, which is the most; try later.")
        returned = read_over(self._connection, self._model, report.source.id)
        if returned is not None:
            return returned
        row, self._model.next_row = self._model.next_row, self._model.next_row + 1
        return Source(report.source.id, row)

    def _plan_joining(self, plan: Plan, source: Source, run: RunName | None) -> None:
        plan.then(partial(self._model.add_source, source))
        if run is None:
            return
        if run != NO_RUN:
            plan.fold(self._model, [], [source])
        plan.then(partial(self._model.join, source, run))

    def _plan_source(self, plan: Plan, source: Source, report: Report, now: float, known: bool) -> None:
        info, run = report.source, _run(report) or source.own_run
        sequence = max(report.sequence, source.sequence)
        span_number = max([source.span_number, *(span.number for span in report.spans[-1:])])
        open_ = _encode(report.states.open)
        state = (*(run or (None, None)), sequence, span_number, report.sent_ns, now, report.final, open_)
        if known:
            plan.sql(
                "UPDATE sources SET job = ?, project = ?, experiment = ?, sequence = ?, span_number = ?, sent_ns = ?,"
                " heard_at = ?, final = ?, open = ? WHERE row = ?",
                (report.job, *state, source.row),
            )
        else:
            plan.sql(
                "INSERT INTO sources (row, uid, host, pid, job, project, experiment, sequence, span_number, sent_ns,"
                " heard_at, final, open, targets) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')"
                " ON CONFLICT DO UPDATE SET over = 0, job = excluded.job, project = excluded.project,"
                " experiment = excluded.experiment, sequence = excluded.sequence, span_number = excluded.span_number,"
                " sent_ns = excluded.sent_ns, heard_at = excluded.heard_at, final = excluded.final,"
                " open = excluded.open, targets = ''",
                (source.row, info.id, info.host, info.pid, report.job, *state),
            )
        plan.then(partial(_update, source, report, sequence, span_number, open_))

    def _plan_spans(self, plan: Plan, source: Source, report: Report, run: RunName | None) -> None:
        fresh = [span for span in report.spans if span.number > source.span_number]
        if fresh and not self._settings.otlp_endpoint:
            plan.then(partial(self._telemetry.spans_dropped, "no_endpoint", len(fresh)))
        elif fresh:
            who = (source.uid, report.source.host, report.source.pid, report.job)
            self._journal.plan_append(plan, who, run, fresh)
        plan.then(partial(self._telemetry.spans, "accepted", len(fresh)))
        plan.then(partial(self._telemetry.spans, "repeated", len(report.spans) - len(fresh)))

    def _plan_targets(self, plan: Plan, source: Source, report: Report, run: RunName | None) -> None:
        encoded = _encode(report.targets)
        if encoded == source.targets or not (report.full or report.targets):
            return
        groups = self._usable(plan, source, report)
        plan_of_source(plan, source.row, run, groups)
        plan.sql("UPDATE sources SET targets = ? WHERE row = ?", (encoded, source.row))
        plan.then(partial(setattr, source, "targets", encoded))

    def _usable(self, plan: Plan, source: Source, report: Report) -> list[Registration]:
        """The report's targets without those that cannot be scraped or are too many, which are counted and said."""
        room = self._settings.max_targets - count(self._connection, but_of=source.row)
        good: dict[tuple[str, str], ScrapeTarget] = {}
        passed_over, reason = 0, ""
        for job_name, one in ((group.job_name, one) for group in report.targets for one in group.targets):
            try:
                if len(good) >= room and (job_name, one.target) not in good:
                    raise too_many_targets(self._settings.max_targets)
                check_job_name(job_name)
                check_target(one.target, one.labels, self._settings.target_networks)
            except Refused as error:
                passed_over, reason = passed_over + 1, reason or error.sentence
            else:
                good[job_name, one.target] = ScrapeTarget(one.target, one.labels)
        if passed_over:
            plan.then(partial(self._telemetry.refused_targets, passed_over))
            about = fields(source=source.uid, targets=passed_over, reason=reason)
            _log.warning("targets of a report are passed over", extra=about)
        return [Registration(job_name, [one]) for (job_name, _), one in good.items()]

    def _count(self, samples: Samples, report: Report) -> None:
        self._telemetry.report("accepted")
        self._telemetry.events(samples.by_kind)
        self._telemetry.refused_families(samples.conflicts)


def _run(report: Report) -> RunName | None:
    return None if report.run is None else (report.run.project, report.run.experiment_name)


def _is_of_another(source: Source, report: Report) -> bool:
    """Whether a report that repeats a sequence cannot be one that was sent before: what it carries is lost."""
    if (report.source.host, report.source.pid) != (source.host, source.pid):
        return True
    return report.sequence == source.sequence and report.sent_ns != source.sent_ns


def _say_shared(source: Source, report: Report) -> None:
    source.shared = True
    _log.warning(
        "several processes seem to report under one source id; what repeats a sequence is not counted",
        extra=fields(source=source.uid, host=report.source.host, pid=report.source.pid),
    )


def _hear(source: Source, clock: float, now: float) -> None:
    source.heard, source.heard_at = clock, now


def _update(source: Source, report: Report, sequence: int, span_number: int, open_: bytes) -> None:
    source.host, source.pid = report.source.host, report.source.pid
    source.sequence, source.span_number = sequence, span_number
    source.sent_ns, source.open = report.sent_ns, open_
    source.final = report.final
    source.complete = source.complete or report.full
