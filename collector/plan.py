"""What is to be done to the database, and to the model once that is on disk.

A plan is made from the model as it is committed, so that a failed commit leaves nothing half done.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from .database import Statement
from .model import NO_RUN, Family, Model, Part, Run, Series, Source
from .totals import Vector, folded

_encode = msgspec.msgpack.Encoder().encode


class Plan:
    """Statements for one transaction, and the changes to the model that follow its commit."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.changes: list[Callable[[], object]] = []
        self._folded: dict[tuple[Family, Run, str], Vector] = {}
        self._ended: set[Run] = set()

    def sql(self, statement: str, *rows: Sequence[Any]) -> None:
        if rows:
            self.statements.append((statement, rows))

    def then(self, change: Callable[[], object]) -> None:
        self.changes.append(change)

    def apply(self, model: Model) -> None:
        """Carries the changes out, after the commit."""
        with model.lock:
            for change in self.changes:
                change()

    def fold(self, model: Model, leaving: Iterable[Source], taking: Iterable[Source] = ()) -> None:
        """Keeps the totals of sources that leave their runs, and forgets the runs that end with them.

        The sources `taking` come from no run, which promises nothing: what they counted goes with them.
        """
        leaving, taking = list(leaving), list(taking)
        ending = model.runs_that_end([*leaving, *taking])
        self._ended.update(ending)
        self.sql(
            "UPDATE sources SET left_project = ?, left_experiment = ? WHERE row = ?",
            *((*source.run, source.row) for source in leaving if source.run is not None),
        )
        for source in leaving:
            for part in source.numbered:
                if part.series is not None and part.series.run not in self._ended:
                    self._fold_part(part)
        for source in taking:
            if source.left == NO_RUN:
                self._take_back(source)
        for (family, run, text), values in self._folded.items():
            self.then(partial(model.fold, family, run.name, text, values))
        self.sql(
            "INSERT INTO folded VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET totals = excluded.totals",
            *((*run.name, family.name, text, _encode(values)) for (family, run, text), values in self._folded.items()),
        )
        for run in ending:
            self._forget(run)

    def _fold_part(self, part: Part) -> None:
        series = part.series
        if series is None:
            return
        key = (series.family, series.run, series.text)
        before = self._folded.get(key, series.folded)
        added = [part.values] if before is None else [part.values, before]
        self._folded[key] = folded(added, [] if part.baseline is None else [part.baseline])

    def _take_back(self, source: Source) -> None:
        """Takes out of no run's folded totals what they hold of a source, so that nothing of it counts in two runs."""
        for part in source.numbered:
            series = part.family.series.get((part.run_in(NO_RUN), part.text))
            if part.baseline is not None and series is not None and series.run not in self._ended:
                self._unfold(series, part.baseline)
        self.sql("UPDATE pages SET baselines = NULL WHERE source = ?", (source.row,))
        self.sql("UPDATE sources SET left_project = NULL, left_experiment = NULL WHERE row = ?", (source.row,))
        self.then(partial(_forget_baselines, source))

    def _unfold(self, series: Series, baseline: Vector) -> None:
        key = (series.family, series.run, series.text)
        before = self._folded.get(key, series.folded)
        if before is not None:
            self._folded[key] = folded([before], [baseline])

    def _forget(self, run: Run) -> None:
        gone = "SELECT row FROM sources WHERE over = 1 AND left_project = ? AND left_experiment = ?"
        for table in ("series", "pages"):
            self.sql(f"DELETE FROM {table} WHERE source IN ({gone})", run.name)  # noqa: S608  our own names
        self.sql("DELETE FROM folded WHERE project = ? AND experiment = ?", run.name)


def _forget_baselines(source: Source) -> None:
    source.left = None
    for part in source.numbered:
        part.baseline = None


def merged(plans: Iterable[Plan]) -> Iterable[Statement]:
    """The statements of all plans, one after another."""
    return (statement for plan in plans for statement in plan.statements)
