"""What there is now: for /api/v1/runs, and for the collector's own gauges."""

from typing import Any

from .model import Model, Source
from .telemetry import Telemetry
from .writer import Writer


def runs(model: Model) -> dict[str, Any]:
    """The runs with their sources, and the sources that wait for their run. Times are seconds since 1970."""
    with model.lock:
        listed = [
            {
                "project": run.name[0],
                "experiment_name": run.name[1],
                "jobs": sorted({source.job for source in run.members if source.job}),
                "last_report": max(source.heard_at for source in run.members),
                "sources": [_source(source, model) for source in sorted(run.members, key=lambda one: one.row)],
            }
            for run in model.runs.values()
        ]
        waiting = [_source(source, model) for source in model.sources.values() if source.run is None]
    return {"runs": listed, "waiting": waiting}


def _source(source: Source, model: Model) -> dict[str, Any]:
    return {
        "id": source.uid,
        "host": source.host,
        "pid": source.pid,
        "job": source.job,
        "final": source.final,
        "series": len(source.parts),
        "last_report": source.heard_at,
        "silent_seconds": round(max(0.0, model.clock - source.heard), 3),
    }


def set_gauges(telemetry: Telemetry, writer: Writer) -> None:
    """Sets the gauges of what there is now, before a scrape."""
    model, journal = writer.model, writer.journal
    with model.lock:
        series = sum(len(family.prefixes("")) * len(family.series) for family in model.families.values())
        held = sum(source.run is None for source in model.sources.values())
        telemetry.set_now(
            series=series,
            source_series=model.parts,
            sources=len(model.sources),
            sources_held=held,
            runs=len(model.runs),
        )
    telemetry.set_now(
        journal_spans=journal.spans,
        journal_bytes=journal.bytes,
        journal_limit_bytes=journal.limit,
        waiting_reports=writer.inbox.reports,
        waiting_bytes=writer.inbox.bytes,
        database_ok=not writer.broken,
    )
