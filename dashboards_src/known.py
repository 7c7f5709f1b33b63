"""What the linter should know of metrics: their types, and which of them belong to a run."""

from collections.abc import Iterator

from dashboards_src.catalog import TRAINER_METRICS
from dashboards_src.catalog.exposed import CUMULATIVE, EXPORTERS, OLDER, SGLANG, TRANSFER_QUEUE, VLLM
from dashboards_src.run import RUN, TRAINER
from dashboards_src.scalars import names
from dashboards_src.states import STATE_SECONDS
from generator.lint.known import KnownMetrics, MetricType

_OF_A_RUN = (TRAINER, STATE_SECONDS)
_OF_A_RUNS_TARGETS = ("vllm:", "sglang:", "tq_")

_OPEN_ENDED = (
    rf"{TRAINER}val_(core|aux)_\w+",
    # What the quick start sends.
    rf"{TRAINER}demo_\w+",
)


def of_ours() -> KnownMetrics:
    """For our own dashboards: a metric that is not listed is a mistake, and what a run owns is filtered by it."""
    return _known((*_OF_A_RUN, *_OF_A_RUNS_TARGETS), complete=True)


def of_anyones() -> KnownMetrics:
    """For other dashboards: other metrics may be right, and engines may be scraped without a run's labels."""
    return _known(_OF_A_RUN, complete=False)


def _known(of_a_run: tuple[str, ...], *, complete: bool) -> KnownMetrics:
    return KnownMetrics(
        types=dict(_types()),
        open_patterns=_OPEN_ENDED,
        run_matchers=dict(RUN.filters),
        carries_run_labels=lambda name: name.startswith(of_a_run),
        complete=complete,
    )


def _types() -> Iterator[tuple[str, MetricType]]:
    yield STATE_SECONDS, "counter"
    for metric in TRAINER_METRICS:
        yield from ((name, "gauge") for name in names(metric))
    for table in (VLLM, SGLANG, TRANSFER_QUEUE, EXPORTERS, OLDER):
        for exposed in table.values():
            yield exposed.name, "counter" if exposed.name in CUMULATIVE else exposed.type
