"""What is to be done to the database, and to the model once that is on disk.

A plan is made from the model as it is committed, so that a failed commit leaves nothing half done.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from .database import Statement
from .model import Family, Model, Part, Run, Source
from .totals import Vector, folded

_encode = msgspec.msgpack.Encoder().encode


class Plan:
    """Statements for one transaction, and the changes to the model that follow its commit."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.changes: list[Callable[[], object]] = []
        self._folded: dict[tuple[Family, Run, str], Vector] = {}

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

    def fold(self, model: Model, leaving: Iterable[Source]) -> None:
        """Keeps the totals of sources that leave their runs, and forgets the runs that end with them."""
        leaving = list(leaving)
        ending = model.runs_that_end(leaving)
        self.sql(
            "UPDATE sources SET left_project = ?, left_experiment = ? WHERE row = ?",
            *((*source.run, source.row) for source in leaving if source.run is not None),
        )
        for source in leaving:
            for part in source.numbered:
                if part.series is not None and part.series.run not in ending:
                    self._fold_part(part)
        for (family, run, text), values in self._folded.items():
            self.then(partial(model.fold, family, run.name, text, values))
        self.sql(
            "INSERT INTO folded VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET totals = excluded.totals",
            *((*run.name, family.name, text, _encode(values)) for (family, run, text), values in self._folded.items()),
        )
        self._folded = {}
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

    def _forget(self, run: Run) -> None:
        gone = "SELECT row FROM sources WHERE over = 1 AND left_project = ? AND left_experiment = ?"
        for table in ("series", "pages"):
            self.sql(f"DELETE FROM {table} WHERE source IN ({gone})", run.name)  # noqa: S608  our own names
        self.sql("DELETE FROM folded WHERE project = ? AND experiment = ?", run.name)


def merged(plans: Iterable[Plan]) -> Iterable[Statement]:
    """The statements of all plans, one after another."""
    return (statement for plan in plans for statement in plan.statements)
