"""Turns a request's body into a report, or refuses it with a reason."""

import math
import zlib
from itertools import pairwise
from typing import Any

import msgspec

from .errors import Refused
from .report import (
    CounterFamily,
    HistogramFamily,
    JustVersion,
    Report,
    Span,
)
from .settings import Settings

VERSION = 1
_GZIP = zlib.MAX_WBITS | 16
_decoder = msgspec.json.Decoder(Report)
_version_decoder = msgspec.json.Decoder(JustVersion)


def decode_report(body: bytes, encoding: str, settings: Settings) -> Report:
    """The report in a body with this `Content-Encoding`. Raises Refused."""
    plain = _plain(body, encoding, settings.max_report_bytes)
    report: Report = _decoded(plain, _decoder)
    _check_size(report, settings)
    for family in report.metrics:
        if isinstance(family, CounterFamily):
            _check_counter(family)
        elif isinstance(family, HistogramFamily):
            _check_histogram(family)
    for total in report.states.totals:
        if not total.seconds >= 0:
            raise _bad(f"the seconds of state {total.state!r} on lane {total.lane!r} are {total.seconds}, below 0")
    _check_spans(report.spans)
    return report


def number(value: float | str) -> float:
    """A number of a report, of which NaN and the infinities come as strings."""
    return float(value)


def _plain(body: bytes, encoding: str, limit: int) -> bytes:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise Refused(400, "encoding", f"Content-Encoding {encoding[:40]!r} is not known; send gzip or plain JSON.")
    inflater = zlib.decompressobj(wbits=_GZIP)
    try:
        plain = inflater.decompress(body, limit + 1)
    except zlib.error:
        raise Refused(400, "gzip", "The body is not gzip although Content-Encoding says so.") from None
    if len(plain) > limit:
        raise Refused(400, "bomb", f"The body is more than {limit} bytes once decompressed; send less in one report.")
    if not inflater.eof:
        raise Refused(400, "truncated", "The gzip body ends too early; send the report again.")
    if inflater.unused_data:
        raise Refused(400, "gzip", "Something follows the gzip body; send one gzip member.")
    return plain


def _decoded(plain: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    try:
        report = decoder.decode(plain)
    except msgspec.ValidationError as error:
        _check_version(plain)
        raise _bad(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, "json", f"The report is not JSON: {error}.") from None
    if report.version != VERSION:
        raise _wrong_version(report.version)
    return report


def _check_version(plain: bytes) -> None:
    try:
        version = _version_decoder.decode(plain).version
    except msgspec.ValidationError:
        return
    if version != VERSION:
        raise _wrong_version(version)


def _wrong_version(version: int) -> Refused:
    return Refused(
        400, "version", f"Reports of version {version} are not known, only of {VERSION}; upgrade the older side."
    )


def _bad(what: str) -> Refused:
    return Refused(400, "field", f"The report is not as it must be: {what}.")


def _check_size(report: Report, settings: Settings) -> None:
    if len(report.spans) > settings.max_spans_per_report:
        raise Refused(
            413,
            "spans_limit",
            f"The report has {len(report.spans)} spans, more than {settings.max_spans_per_report}; send several.",
        )
    series = sum(len(family.series) for family in report.metrics) + len(report.states.totals)
    if series > settings.max_series_per_source:
        raise too_many_series(series, settings)


def too_many_series(series: int, settings: Settings) -> Refused:
    return Refused(
        413,
        "series_limit",
        f"The source has {series} series, more than {settings.max_series_per_source}; use fewer label values.",
    )


def _check_counter(family: CounterFamily) -> None:
    if not family.name.endswith("_total"):
        raise _bad(f"the counter {family.name} does not end in _total")
    for series in family.series:
        if not number(series.total) >= 0:
            raise _bad(f"the counter {family.name} has the total {series.total}, which is not 0 or more")


def _check_histogram(family: HistogramFamily) -> None:
    buckets = family.buckets
    ascending = all(low < high for low, high in pairwise(buckets))
    if not ascending or not all(math.isfinite(bound) for bound in buckets):
        raise _bad(f"the buckets of {family.name} are not ascending finite numbers")
    for series in family.series:
        if len(series.counts) != len(buckets) + 1:
            raise _bad(
                f"the histogram {family.name} has {len(series.counts)} counts for {len(buckets)} buckets and +Inf"
            )


def _check_spans(spans: list[Span]) -> None:
    last = 0
    for span in spans:
        if span.number <= last:
            raise _bad(f"span {span.number} comes after span {last}")
        last = span.number
        if span.kind == "state" and (span.lane is None or not span.state or span.interval_id is None):
            raise _bad(f"span {span.number} is a state without lane, state or interval_id")
