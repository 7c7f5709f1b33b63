"""The report of docs/reports.md as types, and what its JSON must be like."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

LARGEST = 2**63 - 1
NAME_LENGTH = 255
LABEL_NAME_LENGTH = 128
LABEL_VALUE_LENGTH = 1024
LABELS_PER_SERIES = 32
ATTRIBUTES_PER_SPAN = 128
BUCKETS_PER_HISTOGRAM = 128

Name = Annotated[str, Meta(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]*\Z", max_length=NAME_LENGTH)]
Text = Annotated[str, Meta(max_length=LABEL_VALUE_LENGTH)]
Word = Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Nanoseconds = Count
Number = float | Literal["NaN", "+Inf", "-Inf"]
Labels = dict[str, str]
Scalar = str | int | float | bool | None
Attributes = Annotated[dict[Word, Scalar | list[str | int | float | bool]], Meta(max_length=ATTRIBUTES_PER_SPAN)]


class SourceInfo(Struct, frozen=True):
    id: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    host: Text
    pid: Count
    start_ns: Nanoseconds = 0


class RunInfo(Struct, frozen=True):
    project: Text
    experiment_name: Text


class GaugeSeries(Struct, array_like=True):
    labels: Labels
    value: Number
    set_ns: Nanoseconds


class CounterSeries(Struct, array_like=True):
    labels: Labels
    total: Number


class HistogramSeries(Struct, array_like=True):
    labels: Labels
    counts: list[Count]
    sum: Number


class GaugeFamily(Struct, tag_field="type", tag="gauge"):
    name: Name
    series: list[GaugeSeries]
    help: Text = ""


class CounterFamily(Struct, tag_field="type", tag="counter"):
    name: Name
    series: list[CounterSeries]
    help: Text = ""


class HistogramFamily(Struct, tag_field="type", tag="histogram"):
    name: Name
    series: list[HistogramSeries]
    buckets: Annotated[list[float], Meta(max_length=BUCKETS_PER_HISTOGRAM)]
    help: Text = ""


FamilyInfo = GaugeFamily | CounterFamily | HistogramFamily


class StateTotal(Struct, array_like=True):
    lane: Text
    state: Text
    seconds: float
    intervals: Count
    ignored: Count


class OpenState(Struct, array_like=True):
    lane: Text
    state: Text
    interval_id: Text | int
    piece_start_ns: Nanoseconds


class States(Struct):
    totals: list[StateTotal] = []
    open: list[OpenState] = []


class Span(Struct, omit_defaults=True):
    number: Annotated[int, Meta(ge=1, le=LARGEST)]
    kind: Literal["state", "duration", "span"]
    name: Text
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    attributes: Attributes = {}
    lane: Text | None = None
    state: Text | None = None
    interval_id: Text | int | None = None
    open: bool = False


class Target(Struct):
    target: str
    labels: Labels = {}


class TargetGroup(Struct):
    job_name: str
    targets: list[Target]


class Report(Struct):
    version: int
    source: SourceInfo
    sequence: Annotated[int, Meta(ge=1, le=LARGEST)]
    sent_ns: Nanoseconds
    job: Text = ""
    run: RunInfo | None = None
    full: bool = False
    final: bool = False
    metrics: list[FamilyInfo] = []
    states: States = msgspec.field(default_factory=States)
    spans: list[Span] = []
    targets: list[TargetGroup] = []
    dropped: Annotated[dict[Word, Count], Meta(max_length=64)] = {}


class JustVersion(Struct):
    version: int
