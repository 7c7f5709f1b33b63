"""The lanes of one source: which state holds each, since when, and for how long each did.

On a lane one state holds at a time. Entering it again while it holds makes no second interval:
the interval ends when all who entered have left. Entering another state meanwhile shows nothing
and is counted. An interval that stays open is cut into pieces that grow and abut.
"""

import threading
from collections.abc import Callable, Mapping
from time import monotonic_ns
from typing import NamedTuple

from rl_insight.clock import Clock
from rl_insight.faults import Refused
from rl_insight.names import row_name
from rl_insight.spans import Attributes, LaneName, Spans, lasting

PIECES_NS = (10_000_000_000, 20_000_000_000, 40_000_000_000, 60_000_000_000)
"""Lengths of an open interval's first pieces; those that follow are as long as the last."""

MAX_LANES = 1_000
MAX_STATES = 4_000
"""Different states, counted on each lane."""


class Total:
    """What one state of a lane amounts to since the source began.

    `ignored` is how often another state was entered while this one held the lane; `changed`
    whether anything is new since the last report.
    """

    __slots__ = ("changed", "ignored", "intervals", "ns", "state")

    def __init__(self, state: str) -> None:
        self.state = state
        self.ns = 0
        self.intervals = 0
        self.ignored = 0
        self.changed = False


class TotalRow(NamedTuple):
    """A lane's state as a report tells it, with what is open counted up to now."""

    lane: str
    state: str
    seconds: float
    intervals: int
    ignored: int


class OpenRow(NamedTuple):
    """An interval that goes on, by its number on its lane, and where what is not cut of it yet began."""

    lane: LaneName
    state: str
    interval: int
    piece_start_ns: int


class Lane:
    """One lane. `depth` is how many have entered the state that holds it and have not left."""

    __slots__ = (
        "_attributes",
        "_begun",
        "_cuts",
        "_intervals",
        "_offset",
        "_piece",
        "_state",
        "_states",
        "_total",
        "depth",
        "name",
        "number",
        "totals",
    )

    def __init__(self, name: str, number: int, states: "States") -> None:
        self.name = name
        self.number = number
        self.depth = 0
        self.totals: dict[str, Total] = {}
        self._states = states
        self._state = ""
        self._total = Total("")
        self._attributes: Attributes = {}
        self._begun = self._piece = self._offset = self._intervals = self._cuts = 0

    def enter(self, state: str, labels: Mapping[str, object]) -> bool:
        """Takes the lane or joins those who hold it; False where another state does.

        Raises KeyError where the lane has not had this state before: see `States.enter`; Refused
        where it has no name.
        """
        with self._states.lock:
            if self.depth:
                # What is not the same may still read the same, as a member of an enumeration does.
                if self._state == state or self._state == row_name(state, "state"):
                    self.depth += 1
                    return True
                self._total.ignored += 1
                self._total.changed = True
                return False
            self._total = total = self.totals[state]
            self._attributes = lasting(labels) if labels else labels
            # The interval keeps its offset, so that a step of the clock cannot tear it: see clock.py.
            self._offset = self._states.clock.offset
            self._state = total.state
            self._intervals += 1
            total.intervals += 1
            total.changed = True
            self.depth = 1
            self._cuts = 0
            self._begun = self._piece = monotonic_ns()
            return True

    def leave(self) -> None:
        """Ends the interval once all who entered have left."""
        with self._states.lock:
            self.depth -= 1
            if not self.depth:
                self._end(monotonic_ns())

    def cut(self, now: int) -> None:
        """Makes spans of the pieces that are long enough. Under the lock, like all that follows."""
        while self.depth and now - self._piece >= (length := PIECES_NS[min(self._cuts, len(PIECES_NS) - 1)]):
            self._add_piece(self._piece + length, True)
            self._cuts += 1

    def close(self, now: int) -> None:
        """Ends the interval, whoever is still in it."""
        if self.depth > 0:
            self.depth = 0
            self._end(now)

    def total_rows(self, now: int, everything: bool) -> list[TotalRow]:
        rows = []
        for total in self.totals.values():
            held = self.depth > 0 and total is self._total
            if held or total.changed or everything:
                ns = total.ns + (now - self._begun if held else 0)
                rows.append(TotalRow(self.name, total.state, ns / 1e9, total.intervals, total.ignored))
                total.changed = False
        return rows

    def open_row(self) -> OpenRow:
        return OpenRow(self, self._state, self._intervals, self._piece + self._offset)

    def _end(self, now: int) -> None:
        total = self._total
        total.ns += now - self._begun
        total.changed = True
        self._add_piece(now, False)

    def _add_piece(self, end: int, goes_on: bool) -> None:
        offset, start = self._offset, self._piece
        self._piece = end
        self._states.spans.add_piece(
            (self, self._state, start + offset, end + offset, self._intervals, goes_on, self._attributes)
        )


class States:
    """All lanes of one source. `lanes` leads from the id of a lane as given, a string, an int or None, to the lane."""

    __slots__ = ("_by_name", "_default_lane", "_size", "clock", "lanes", "lock", "spans")

    def __init__(self, lock: threading.RLock, clock: Clock, spans: Spans, default_lane: Callable[[], str]) -> None:
        self.lock = lock
        self.clock = clock
        self.spans = spans
        self.lanes: dict[object, Lane] = {}
        self._by_name: dict[str, Lane] = {}
        self._default_lane = default_lane
        self._size = 0

    def enter(self, lane_id: object, state: object, labels: Mapping[str, object]) -> Lane | None:
        """The slow path: makes the lane and the state if need be; the lane if it could be entered, else None.

        Raises Refused where lane or state has no name or there are too many.
        """
        name = row_name(state, "state")
        lane_name = self._default_lane() if lane_id is None else row_name(lane_id, "lane")
        with self.lock:
            lane = self._lane(lane_name)
            if lane_id is None or lane_id == lane_name or type(lane_id) is int:
                self.lanes[lane_id] = lane
            if name not in lane.totals:
                if self._size >= MAX_STATES:
                    raise Refused("state_limit", f"this process has had {MAX_STATES} different states on its lanes")
                self._size += 1
                lane.totals[name] = Total(name)
            return lane if lane.enter(name, labels) else None

    def report(self, *, everything: bool, close: bool) -> tuple[list[TotalRow], list[OpenRow]]:
        """What a report says: totals that are new, or all, and what is open; cuts or closes what is due."""
        totals: list[TotalRow] = []
        still_open: list[OpenRow] = []
        for lane in list(self._by_name.values()):
            with self.lock:
                now = monotonic_ns()
                lane.cut(now)
                if close:
                    lane.close(now)
                totals += lane.total_rows(now, everything)
                if lane.depth > 0:
                    still_open.append(lane.open_row())
        return totals, still_open

    def _lane(self, name: str) -> Lane:
        lane = self._by_name.get(name)
        if lane is None:
            if len(self._by_name) >= MAX_LANES:
                raise Refused("lane_limit", f"this process has {MAX_LANES} lanes, which is the limit")
            lane = self._by_name[name] = Lane(name, len(self._by_name) + 1, self)
        return lane
