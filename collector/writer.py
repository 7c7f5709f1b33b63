"""The one thread that owns the database and changes the model.

Reports that arrive while the last ones are being stored are stored together in one transaction.
A report is answered once its transaction is committed, and only then is it shown.
"""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from . import expiry
from .database import is_trouble, open_database, run
from .decode import decode_report
from .errors import RETRY_SECONDS, ConfigError, Refused
from .inbox import Arrived, Call, Inbox
from .ingest import Answer, Ingest
from .journal import Journal
from .load import load
from .logs import fields
from .plan import Plan, merged
from .report import Report
from .settings import Settings
from .telemetry import Telemetry

_TICK_SECONDS = 1.0
_PURGE_SECONDS = 60.0
_LONGEST_STEP = 5.0
_BATCH = 256
_FREE_PAGES, _VACUUM_PAGES = 4096, 1024
"""Pages of 4 KiB that may be free, and how many are given back at once."""

_log = logging.getLogger("collector.writer")


class Writer:
    """Takes reports and calls from other threads and carries them out one after another."""

    def __init__(
        self, settings: Settings, telemetry: Telemetry, clock: Callable[[], float] = time.monotonic, tick: bool = True
    ) -> None:
        """Opens the database. Raises ConfigError if it cannot. Without `tick`, time passes only in `tick()`."""
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._ticks = tick
        self.inbox = Inbox(settings.max_waiting_bytes)
        self.broken = ""
        """What the database said when it last refused; empty while all is well."""
        self.on_death: Callable[[], None] = lambda: None
        """Called if the thread ends with an error."""
        self.at_stop: Callable[[], None] = lambda: None
        """Called once all is stored, before the database is closed."""
        self._closed = False
        """Whether there is no open database, as it could not be opened again."""
        self._last = clock()
        self._last_purge = self._last
        self._next_try = 0.0
        self.after_commit: list[Callable[[], None]] = []
        """Called, in the writer's thread, after something was committed."""
        self._open()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)

    def _open(self) -> None:
        path = self._settings.database
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = open_database(path, self._settings.synchronous)
        try:
            journal = Journal(self._settings.journal_bytes)
            journal.load(connection)
            model = load(connection)
        except BaseException:
            connection.close()
            raise
        self.connection, self.journal, self.model = connection, journal, model
        self._file = _identity(path)
        self._ingest = Ingest(connection, model, journal, self._settings, self._telemetry)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stores what has been accepted, then closes the database."""
        self.inbox.close()
        self._thread.join()
        self._attempt(self.at_stop)
        self.connection.close()

    def ask(self, do: Callable[[], Any]) -> "Future[Any]":
        """What `do` returns when the writer's thread calls it; Refused, if the database cannot be asked."""
        return self.inbox.call(lambda: self._answer(do))

    def _answer(self, do: Callable[[], Any]) -> Any:
        if self._closed and self._unusable():
            raise self._refusal()
        try:
            return do()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def carry_out(self, plan: Plan) -> None:
        """Commits a plan and shows it; the writer's thread only. Raises Refused, with nothing done."""
        if self._unusable():
            raise self._refusal()
        try:
            self._commit([plan])
        except Exception as error:
            raise self._failed(error) from error

    def tick(self) -> None:
        """Lets time take effect; the writer's thread only."""
        self._advance()
        self._check_file()
        self._attempt(self._tick)

    def _work(self) -> None:
        try:
            self._work_on()
        except BaseException:
            _log.exception("the writer cannot go on; the collector stops")
            self.on_death()
            raise

    def _work_on(self) -> None:
        while (items := self.inbox.take(_BATCH, _TICK_SECONDS)) is not None:
            self._carry_out(items)
            if self._ticks and self._clock() - self._last >= _TICK_SECONDS:
                self.tick()

    def _carry_out(self, items: list[Arrived | Call]) -> None:
        reports: list[Arrived] = []
        for item in items:
            if isinstance(item, Arrived):
                reports.append(item)
            else:
                self._store(reports)
                reports = []
                self._check_file()
                item.carry_out()
        self._store(reports)

    def _store(self, arrived: list[Arrived]) -> None:
        """Stores reports in as few transactions as may be, and answers them."""
        if not arrived:
            return
        self.inbox.taken(arrived)
        self._check_file()
        if self._unusable():
            for one in arrived:
                one.answer.set_exception(self._refusal())
            return
        batch: list[tuple[Arrived, Plan, Answer]] = []
        seen: set[str] = set()
        for one, report in self._decoded(arrived):
            alone = report.source.id in seen or self._ingest.stands_alone(report)
            if alone:
                self._settle(batch)
                batch, seen = [], set()
            self._plan(one, report, batch)
            seen.add(report.source.id)
            if alone:
                self._settle(batch)
                batch, seen = [], set()
        self._settle(batch)

    def _decoded(self, arrived: list[Arrived]) -> Iterator[tuple[Arrived, Report]]:
        for one in arrived:
            try:
                report = decode_report(one.body, one.encoding, self._settings)
            except Refused as refusal:
                one.answer.set_exception(refusal)
            else:
                yield one, report

    def _plan(self, one: Arrived, report: Report, batch: list[tuple[Arrived, Plan, Answer]]) -> None:
        try:
            plan, answer = self._ingest.plan(report, time.time())
        except Refused as refusal:
            one.answer.set_exception(refusal)
        except Exception as error:
            one.answer.set_exception(self._failed(error))
        else:
            batch.append((one, plan, answer))

    def _settle(self, batch: list[tuple[Arrived, Plan, Answer]]) -> None:
        """Commits a batch, shows it and answers it."""
        if not batch:
            return
        if self.broken:  # since the batch was planned, from a model that may be another now
            for arrived, _, _ in batch:
                arrived.answer.set_exception(self._refusal())
            return
        try:
            self._commit([plan for _, plan, _ in batch])
        except Exception as error:
            if len(batch) > 1 and not is_trouble(error):
                for one in batch:  # so that a report that cannot be stored takes no other with it
                    self._settle([one])
                return
            refusal = self._failed(error)
            for arrived, _, _ in batch:
                arrived.answer.set_exception(refusal)
        else:
            self._telemetry.batch_reports.observe(len(batch))
            for arrived, _, answer in batch:
                arrived.answer.set_result(answer)

    def _commit(self, plans: list[Plan]) -> None:
        with self._telemetry.commit_seconds.time():
            run(self.connection, merged(plans))
        try:
            for plan in plans:
                plan.apply(self.model)
        except Exception:
            # What is committed stands, but what is in memory may be half changed.
            _log.exception("a change failed half-way; reading everything back from the database")
            self._reopen()
        for hook in self.after_commit:
            hook()

    def _tick(self) -> None:
        if self.broken:
            self._try_again()
        if self._closed:
            return
        steps: list[Callable[[], Plan]] = [
            lambda: expiry.plan_releases(self.model, self._settings),
            lambda: expiry.plan_ends(self.model, self.journal, self._settings, self._telemetry),
            self._plan_bound,
        ]
        for make in steps:
            plan = make()
            if plan.statements:
                self._commit([plan])
        if self._last - self._last_purge >= _PURGE_SECONDS:
            self._last_purge = self._last
            self._commit([expiry.plan_purge(self.connection, self.model, time.time())])
        self._give_back()
        for hook in self.after_commit:
            hook()

    def _give_back(self) -> None:
        """Returns room to the disk, a little at a time, after an outage has made the journal large."""
        [free] = self.connection.execute("PRAGMA freelist_count").fetchone()
        if free > _FREE_PAGES:
            # As a script, since `execute` stops after the first page.
            self.connection.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")

    def _plan_bound(self) -> Plan:
        plan = Plan()
        dropped = self.journal.plan_bound(plan, self.connection)
        if dropped:
            _log.warning(
                "the journal of spans is full; the oldest are dropped",
                extra=fields(spans=dropped, bytes=self.journal.bytes, limit_bytes=self.journal.limit),
            )
            self._telemetry.spans_dropped("journal_full", dropped)
        return plan

    def _advance(self) -> None:
        """The clock of silence: it stands still while we could not listen, having been stopped or refusing."""
        now = self._clock()
        if not self.broken:
            with self.model.lock:
                self.model.clock += min(now - self._last, _LONGEST_STEP)
        self._last = now

    def _reopen(self) -> None:
        """Reads everything back. If that cannot be done, all is refused until it can."""
        self.connection.close()
        self._closed = True
        try:
            self._open()
        except (ConfigError, OSError, sqlite3.Error) as error:
            if not self.broken:
                _log.error("the database cannot be opened again", extra=fields(error=error))
            self.broken = str(error)
            self._next_try = self._clock() + _TICK_SECONDS
        else:
            self._closed = False

    def _check_file(self) -> None:
        """Begins anew if the database's file is gone: what is committed to a deleted file is on no disk."""
        if self._closed or _identity(self._settings.database) == self._file:
            return
        _log.error("the database's file was deleted or replaced; opening it anew, and clients send everything again")
        self._telemetry.failure("database")
        self._reopen()

    def _failed(self, error: Exception) -> Refused:
        """Takes note of an error; returns what to tell whoever asked for what failed."""
        if not is_trouble(error):
            _log.error("a request cannot be handled", exc_info=error)
            return Refused(400, "fault", "The collector cannot handle this; its log says why. Do not send it again.")
        if not self.broken:
            _log.error("the database refuses; reports are turned away until it recovers", extra=fields(error=error))
        self.broken = str(error)
        self._telemetry.failure("database")
        self._next_try = self._clock() + _TICK_SECONDS
        if not isinstance(error, sqlite3.OperationalError):  # damaged, rather than full, busy or out of reach
            self._reopen()
        return self._refusal()

    def _unusable(self) -> bool:
        if self.broken and self._clock() >= self._next_try:
            self._attempt(self._try_again)
        return bool(self.broken)

    def _attempt(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:
            self._failed(error)

    def _try_again(self) -> None:
        """Raises sqlite3.Error while the database still refuses."""
        self._next_try = self._clock() + _TICK_SECONDS
        if self._closed:
            self._reopen()
        if self._closed:
            return
        run(self.connection, [("INSERT INTO jobs VALUES ('', NULL, NULL, zeroblob(65536))", [()])])
        run(self.connection, [("DELETE FROM jobs WHERE name = ''", [()])])
        self.broken = ""
        _log.info("the database takes reports again")

    def _refusal(self) -> Refused:
        return Refused(
            503, "database", f"The report cannot be stored: {self.broken}; send it again in {RETRY_SECONDS} s."
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file the path leads to; None if to none."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino
