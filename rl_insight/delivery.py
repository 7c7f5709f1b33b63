"""Brings reports to the collector one at a time, each of them until it is acknowledged or refused."""

import json
import logging  # noqa: F401 - for faults.py: see sender.py
from random import uniform
from time import monotonic
from typing import TYPE_CHECKING

from rl_insight import faults
from rl_insight.report import Report, Reporter
from rl_insight.settings import Settings
from rl_insight.source import Source
from rl_insight.transport import Answer, Transport, Unreachable

if TYPE_CHECKING:
    from rl_insight.sender import Sender

LONGEST_PAUSE = 30.0
UNAUTHORISED_PAUSE = 30.0
CLOSING_PAUSE = 0.2
"""Seconds between two tries: after failures, with a wrong token, and when the process is about to end."""


class Delivery:
    """The state of a source's delivery: the report in flight, kept byte for byte, and how often it failed."""

    def __init__(self, source: Source, orders: "Sender") -> None:
        self.transport = Transport(orders.settings.url)
        self.finished = False
        self._orders = orders
        self._reporter = Reporter(source)
        self._in_flight: Report | None = None
        self._failures = 0

    def send(self) -> float:
        """Sends what there is to say; how many seconds to wait until the next call."""
        while not self.finished:
            settings, closing = self._orders.settings, self._orders.deadline is not None
            if self._in_flight is None:
                self._in_flight = self._reporter.build(settings.namespace, final=closing)
            report = self._in_flight
            if report is None:
                break
            pause = self._attempt(report, settings)
            closing = self._orders.deadline is not None
            if pause is not None:
                return min(pause, CLOSING_PAUSE) if closing else pause
            if not (report.more or closing):
                break
        return spread(self._orders.settings.interval, 0.9, 1.1)

    def close(self) -> None:
        self.transport.close()

    def _attempt(self, report: Report, settings: Settings) -> float | None:
        """Posts the report. The pause before the next attempt, or None where the report is done with."""
        deadline = self._orders.deadline
        try:
            answer = self.transport.post(report.body, settings.token, deadline and deadline - monotonic())
        except Unreachable as reason:
            return self._later(settings, "unreachable", f"does not reach {_shown(settings)} ({reason})")
        content = _content(answer)
        if answer.status == 200 and _acknowledges(content, report):
            self._acknowledged(report, everything=content.get("full") is True)
            return None
        if answer.status in (400, 413):
            return self._refused(report, settings, answer, str(content.get("reason", ""))[:200])
        if answer.status == 401:
            faults.error("unauthorised", f"is not let in by {_shown(settings)}: set RL_INSIGHT_TOKEN to its token")
            return UNAUTHORISED_PAUSE
        said = f"got no acknowledgement from {_shown(settings)} but status {answer.status}"
        return self._later(settings, f"status_{answer.status}", said, answer.retry_after)

    def _acknowledged(self, report: Report, *, everything: bool) -> None:
        self._in_flight = None
        self._failures = 0
        self._reporter.accepted()
        if everything:
            self._reporter.send_everything()
        # Asked for everything after the last report, say it once more; not again after that.
        self.finished = report.final and (report.full or not everything)

    def _refused(self, report: Report, settings: Settings, answer: Answer, reason: str) -> float:
        self._in_flight = None
        again = self._reporter.refused(report, too_large=answer.status == 413)
        self.finished = report.final and not again
        faults.error(
            f"refused_{answer.status}",
            f"lost the spans of a report that {_shown(settings)} refused with {answer.status}: {reason}",
        )
        return settings.interval

    def _later(self, settings: Settings, kind: str, what: str, retry_after: float | None = None) -> float:
        faults.warn(kind, f"{what}; it keeps what is reported, within bounds, and tries again")
        self._failures += 1
        if retry_after is not None:
            return spread(max(retry_after, settings.interval), 1.0, 1.1)
        return spread(min(LONGEST_PAUSE, settings.interval * 2.0 ** min(self._failures, 10)), 0.5, 1.0)


def spread(seconds: float, least: float, most: float) -> float:
    """So many seconds, times a chance between the two, so that many processes do not act at once."""
    return seconds * uniform(least, most)  # noqa: S311 - no secret


def _content(answer: Answer) -> dict[str, object]:
    """The answer's JSON object; empty where it is something else."""
    try:
        content = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _acknowledges(content: dict[str, object], report: Report) -> bool:
    number = content.get("acknowledged")
    return type(number) is int and number >= report.sequence


def _shown(settings: Settings) -> str:
    return settings.url.geturl()
