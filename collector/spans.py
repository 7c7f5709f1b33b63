"""Spans of the journal as opentelemetry-sdk's: each a root span in a trace of its own.

A search in Tempo keeps one fragment of a trace, so intervals that shared a trace would go missing.
Ids follow from the source and the span's number or interval: a span that is sent twice, because the
answer to the first sending got lost, is the same span.
"""

from collections.abc import Iterator
from hashlib import blake2b

import msgspec
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, TraceFlags
from opentelemetry.util.types import AttributeValue

from .journal import Chunk
from .report import Span

SERVICE = "rl_insight_monitor"
_RESOURCE = Resource({"service.name": SERVICE})
_SCOPE = InstrumentationScope("rl_insight")
_SEGMENTS = {"state": "state_interval", "duration": "duration"}
_TOP_BIT = 1 << 127
_LARGEST_INT = 2**63 - 1
_decode = msgspec.json.Decoder(list[Span]).decode


def read_spans(chunk: Chunk) -> Iterator[ReadableSpan]:
    """The spans of a row, with the identity of its source and run."""
    for span in _decode(chunk.data):
        yield ReadableSpan(
            name=span.name or "unnamed",
            context=_context(chunk.source, span),
            resource=_RESOURCE,
            attributes=_attributes(chunk, span),
            start_time=span.start_ns,
            end_time=max(span.start_ns, span.end_ns),
            instrumentation_scope=_SCOPE,
        )


def _context(source: str, span: Span) -> SpanContext:
    what = f"{span.interval_id}/{span.start_ns}" if span.kind == "state" else str(span.number)
    digest = blake2b(f"{source}/{span.kind}/{what}".encode(), digest_size=24).digest()
    # Tempo shows trace ids without leading zeros, so there are none.
    trace_id = int.from_bytes(digest[:16], "big") | _TOP_BIT
    span_id = int.from_bytes(digest[16:], "big") or 1
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _attributes(chunk: Chunk, span: Span) -> dict[str, AttributeValue]:
    project, experiment_name = chunk.run
    attributes: dict[str, AttributeValue] = {
        "project": project,
        "experiment_name": experiment_name,
        "host": chunk.host,
        "process_id": chunk.pid,
    }
    for key, value in span.attributes.items():
        if isinstance(value, list):
            attributes[key] = [str(item) for item in value]  # of one type, as OTLP's must be
        elif value is not None:
            attributes[key] = _fitting(value)
    if span.kind == "state":
        attributes["state_name"] = span.state or ""
        attributes["state_lane_id"] = span.lane or ""
        attributes["interval_id"] = str(span.interval_id)
        attributes["interval_open"] = span.open
    if span.kind in _SEGMENTS:
        attributes["monitor.trace_segment"] = _SEGMENTS[span.kind]
    return attributes


def _fitting(value: str | int | float | bool) -> str | int | float | bool:
    """The value, as text if OTLP's 64 bits cannot hold it."""
    return str(value) if isinstance(value, int) and abs(value) > _LARGEST_INT else value
