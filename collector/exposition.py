"""Writes /metrics in Prometheus's text format 0.0.4 and in OpenMetrics 1.0.

Everything of a line that stands before the value is kept with its series, so that a scrape only
formats numbers. The collector's own metrics are few, and prometheus_client writes them.
"""

from collections.abc import Sequence
from itertools import accumulate

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from .model import Family, Model, Series
from .telemetry import Telemetry
from .totals import Vector

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = CONTENT_TYPE_PLAIN_0_0_4
_STATE_HELP = (
    "Seconds that a lane spent in a state, up to its process's last report.",
    "How often a lane entered a state.",
    "How often another state was entered on a lane while this one held it; those are not shown.",
)


def content_type(accept: str) -> str:
    """The format that an `Accept` header asks for: OpenMetrics where it is named in a version we write."""
    for part in accept.lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        if media == "application/openmetrics-text":
            version = next((one.removeprefix("version=") for one in parameters if one.startswith("version=")), "1.0.0")
            if version.strip('"') == "1.0.0":
                return OPENMETRICS
    return PLAIN


def render(model: Model, telemetry: Telemetry, wanted: str) -> bytes:
    """The whole of /metrics in the format with the content type `wanted`."""
    openmetrics = wanted == OPENMETRICS
    out: list[str] = []
    with model.lock:
        for family in model.families.values():
            if family.series:
                _family(family, model, openmetrics, out)
    own = generate_openmetrics if openmetrics else generate_latest
    out.append(own(telemetry.registry).decode())
    return "".join(out).encode()


def _family(family: Family, model: Model, openmetrics: bool, out: list[str]) -> None:
    all_series = family.series.values()
    if family.kind == "gauge":
        _header(out, family.name, "gauge", family.help, openmetrics)
        out += [_line(series) for series in all_series]
    elif family.kind == "counter":
        _counter_header(out, family.name, family.help, model, openmetrics)
        out += [_line(series) for series in all_series]
    elif family.kind == "state":
        values = [(series, series.value()) for series in all_series]
        for place, (name, says) in enumerate(zip(family.sample_names(), _STATE_HELP, strict=True)):
            _counter_header(out, name, says, model, openmetrics)
            out += [f"{series.prefixes[place]}{_number(value[place])}\n" for series, value in values]
    else:
        _histogram(family, [(series, series.value()) for series in all_series], openmetrics, out)


def _line(series: Series) -> str:
    """The line of a series that has one."""
    value = series.value()
    # A report brings a new vector, so the same one means the same value.
    if value is not series.shown:
        series.line = f"{series.prefixes[0]}{_number(value[0])}\n"
        series.shown = value
    return series.line


def _histogram(family: Family, values: Sequence[tuple[Series, Vector]], openmetrics: bool, out: list[str]) -> None:
    if openmetrics and any(not value[-1] >= 0 for _, value in values):
        _unsigned_histogram(family, values, out)
        return
    _header(out, family.name, "histogram", family.help, openmetrics)
    for series, value in values:
        out += [f"{prefix}{_number(one)}\n" for prefix, one in zip(series.prefixes, _cumulative(value), strict=True)]


def _unsigned_histogram(family: Family, values: Sequence[tuple[Series, Vector]], out: list[str]) -> None:
    # OpenMetrics allows a histogram no sum below 0, which rewards and advantages have; as three
    # families without a type nothing of it is lost.
    parts = (("bucket", slice(0, -2)), ("count", slice(-2, -1)), ("sum", slice(-1, None)))
    for suffix, place in parts:
        _header(out, f"{family.name}_{suffix}", "unknown", family.help, True)
        for series, value in values:
            lines = zip(series.prefixes[place], _cumulative(value)[place], strict=True)
            out += [f"{prefix}{_number(number)}\n" for prefix, number in lines]


def _cumulative(value: Vector) -> list[float]:
    """Counts up to each bound, the count of all, and the sum."""
    counts = list(accumulate(value[:-1]))
    return [*counts, counts[-1], value[-1]]


def _counter_header(out: list[str], name: str, says: str, model: Model, openmetrics: bool) -> None:
    base = name.removesuffix("_total")
    if not openmetrics:
        _header(out, name, "counter", says, False)
    elif base in model.samples:
        # A counter is named without _total there; if that is another metric's name, it goes without a type.
        _header(out, name, "unknown", says, True)
    else:
        _header(out, base, "counter", says, True)


def _header(out: list[str], name: str, kind: str, says: str, openmetrics: bool) -> None:
    if says:
        text = says.replace("\\", "\\\\").replace("\n", "\\n")
        if openmetrics:
            text = text.replace('"', '\\"')
        out.append(f"# HELP {name} {text}\n")
    out.append(f"# TYPE {name} {kind}\n")


def _number(value: float) -> str:
    text = repr(value)
    return text if text[-1] not in "fn" else _NOT_FINITE[text]  # inf and nan


_NOT_FINITE = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}
