"""Whose data is it: how a source gets its run, from its own report or through its job."""

from functools import partial

from .journal import move_spans, name_spans
from .model import NO_RUN, Job, Model, RunName, Source
from .plan import Plan
from .register import name_targets


def resolve(source_run: RunName | None, job_name: str, job: Job | None) -> RunName | None:
    """The run of a source that was told `source_run` and belongs to the job; None while it must wait."""
    if source_run is not None:
        return source_run
    if not job_name:
        return NO_RUN
    if job is None:
        return None
    return job.run if job.run is not None else (NO_RUN if job.released else None)


def names_a_run(source: Source, job_name: str, run: RunName | None) -> bool:
    """Whether a report with this job and run changes whose data the source's, or its job's, is."""
    return (run is not None and run != source.own_run) or job_name != source.job


def plan_naming(plan: Plan, model: Model, source: Source, job_name: str, run: RunName | None) -> RunName | None:
    """Plans what follows from a report of `source` with this job and run; returns the source's run from then on.

    The job takes the run of whichever process named one last, and with it go all the job's
    sources that were told none. A source that is not in the model yet is left to the caller.
    """
    own_run = run if run is not None else source.own_run
    job = model.jobs.get(job_name) if job_name else None
    if job_name and job is None:
        job = Job(job_name, model.clock)
        plan.sql("INSERT OR IGNORE INTO jobs VALUES (?, NULL, NULL, 0)", (job_name,))
    moves: dict[Source, RunName] = {}
    job_run = job.run if job else None
    if job is not None and run is not None and run != source.own_run:
        job_run = run
        moves = {other: run for other in job.members if other.own_run is None and other.run != run}
        _name_job(plan, job, run)
    names = own_run or (job_run if job_run is not None else resolve(None, job_name, job))
    moves.pop(source, None)
    if source.uid in model.sources and names is not None and names != source.run:
        moves[source] = names
    plan_moves(plan, model, moves)
    if source.uid in model.sources and job_name != source.job:
        _plan_other_job(plan, model, source, job_name, names)
    plan.then(partial(_settle, model, source, job, own_run))
    return names


def plan_release(plan: Plan, model: Model, job: Job) -> None:
    """Lets a job's data go on without a run."""
    plan.sql("UPDATE jobs SET released = 1 WHERE name = ?", (job.name,))
    name_spans(plan, job.name, NO_RUN)
    plan.then(partial(setattr, job, "released", True))
    plan_moves(plan, model, {source: NO_RUN for source in job.members if source.run is None})


def plan_moves(plan: Plan, model: Model, moves: dict[Source, RunName]) -> None:
    """Plans that sources go to another run, with what they counted before where they had none."""
    leaving = [source for source in moves if source.run not in (None, NO_RUN)]
    plan.fold(model, leaving, [source for source in moves if source.run in (None, NO_RUN) and moves[source] != NO_RUN])
    for source in leaving:
        plan.sql("UPDATE pages SET baselines = totals WHERE source = ?", (source.row,))
        plan.then(partial(keep_baselines, source))
    for source, run in moves.items():
        name_targets(plan, source.row, run)
        plan.then(partial(_move, model, source, run))


def keep_baselines(source: Source) -> None:
    """Marks all that a source has counted as counted in the run that it leaves."""
    source.left = source.run
    for part in source.numbered:
        part.baseline = part.values


def _move(model: Model, source: Source, run: RunName) -> None:
    model.leave(source)
    model.join(source, run)


def _name_job(plan: Plan, job: Job, run: RunName) -> None:
    plan.sql("UPDATE jobs SET project = ?, experiment = ? WHERE name = ?", (*run, job.name))
    name_spans(plan, job.name, run)
    plan.then(partial(setattr, job, "run", run))


def _plan_other_job(plan: Plan, model: Model, source: Source, job_name: str, run: RunName | None) -> None:
    move_spans(plan, source.uid, job_name, run)
    before = model.jobs.get(source.job)
    if before is not None and before.members <= {source}:
        plan.sql("DELETE FROM jobs WHERE name = ?", (before.name,))


def _settle(model: Model, source: Source, job: Job | None, own_run: RunName | None) -> None:
    before = model.jobs.get(source.job)
    if before is not None and before is not job:
        before.members.discard(source)
        if not before.members:
            del model.jobs[before.name]
    source.own_run = own_run
    source.job = job.name if job else ""
    if job is not None:
        model.jobs.setdefault(job.name, job).members.add(source)
