"""What rollout engines, TransferQueue and hardware exporters expose, by metric name.

The tables beside this file list names, types and own labels as /metrics shows them; the
labels that a scrape target adds (job, instance, and for a run's own targets project,
experiment_name and replica) are on every series and not in the tables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, cast, get_args

MetricType = Literal["counter", "gauge", "histogram", "summary"]

_GONE = "-"


@dataclass(frozen=True, slots=True)
class ExposedMetric:
    """A metric as an endpoint exposes it; of a histogram or summary, the name without suffix."""

    name: str
    type: MetricType
    labels: tuple[str, ...]


def _rows(table: str) -> Iterator[list[str]]:
    text = files(__package__).joinpath(table).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def _metric(name: str, type_: str, labels: str) -> ExposedMetric:
    if type_ not in get_args(MetricType):
        raise ValueError(f"{name} has the unknown type {type_!r}")
    return ExposedMetric(name, cast(MetricType, type_), tuple(filter(None, labels.split(","))))


def _by_name(table: str, skip: int = 0) -> Mapping[str, ExposedMetric]:
    """The table's metrics by name, leaving out the first `skip` columns."""
    metrics = (_metric(*row[skip : skip + 3]) for row in _rows(table))
    return MappingProxyType({metric.name: metric for metric in metrics})


def _renamed() -> Mapping[str, tuple[str, ...]]:
    older: dict[str, tuple[str, ...]] = {}
    for current, old, *_ in _rows("renamed.tsv"):
        if current != _GONE:
            older[current] = (*older.get(current, ()), old)
    return MappingProxyType(older)


VLLM = _by_name("vllm.tsv")
SGLANG = _by_name("sglang.tsv")
TRANSFER_QUEUE = _by_name("transferqueue.tsv")
EXPORTERS = _by_name("exporters.tsv", skip=1)

OLDER = _by_name("renamed.tsv", skip=1)
"""Engine metrics that only older versions expose, so that a linter knows them too."""

CUMULATIVE = frozenset(
    {
        "sglang:total_retracted_reqs",
        "tq_storage_arrivals_by_op",
        "tq_storage_listen_other_drops",
        "tq_storage_listen_overflows",
        "tq_storage_request_ops",
        "tq_storage_requests_arrived",
        "tq_storage_socket_drops",
    }
)
"""Exposed as gauges, but only ever added to, so that they are read with rate (transfer_queue/metrics.py 0.1.11)."""

RENAMED = _renamed()
"""Current engine metric names, each with the older names whose series may stand in for its own.

A name that stayed may have had fewer labels: vLLM's V0 engine had no `engine`; SGLang had no
`tp_rank` until 0.5, no `cache_source` until 0.5.9, no `engine_type` on what its tokenizer counts
until 0.5.12, and no `is_streaming` until after 0.5.16. So sum over what a panel does not show.
"""


def names(current: str) -> tuple[str, ...]:
    """A metric's names through time, the current one first, for PromQL that reads whichever is there."""
    return (current, *RENAMED.get(current, ()))
