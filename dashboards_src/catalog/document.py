"""Writes docs/metrics.md from the catalog: `python -m dashboards_src.catalog.document`."""

from collections.abc import Iterable
from pathlib import Path

from . import FAMILIES, NAMESPACE, VALIDATION_FAMILIES, VALIDATION_STATISTICS, Family, Healthy, Metric

PATH = Path("docs", "metrics.md")

_INTRO = f"""\
# Trainer metrics

<!-- Written by `make docs` from dashboards_src/catalog; edit the catalog, not this page. -->

What verl's trainer logs each step, as Grafana shows it. Which of these a run has depends on its algorithm and
trainer mode.

## Names

verl's key becomes a Prometheus gauge: `{NAMESPACE}_` in front, and `_` for every character that is not
a letter, a digit or `_`. So `actor/grad_norm` is `{NAMESPACE}_actor_grad_norm`, and
`val-core/openai/gsm8k/acc/mean@1` is `{NAMESPACE}_val_core_openai_gsm8k_acc_mean_1`. Every series
carries `project` and `experiment_name`. All are gauges, those that count up too: read their growth
with `delta`, not with `rate`.

Units are Grafana's; `gbytes` are GiB. *Better* says which way a run improves. *Healthy* is given only where
verl's documentation or code names figures.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join([_row(head), _row("---" for _ in head), *map(_row, rows)])


def _limits(side: str, limits: tuple[float | None, float | None] | None) -> list[str]:
    named = zip(("warning", "critical"), limits or (None, None), strict=True)
    return [f"{level} {side} {limit:g}" for level, limit in named if limit is not None]


def _healthy(healthy: Healthy | None) -> str:
    if healthy is None:
        return ""
    return "; ".join(_limits("above", healthy.above) + _limits("below", healthy.below))


def _metric_row(metric: Metric) -> tuple[str, ...]:
    return (
        f"`{metric.key}`",
        f"`{metric.name}`",
        _cell(metric.title),
        f"`{metric.unit}`",
        metric.better,
        _healthy(metric.healthy),
        _cell(metric.meaning),
        _cell(metric.source),
    )


def _family(family: Family) -> str:
    head = ("Key", "Exposed name", "Title", "Unit", "Better", "Healthy", "Meaning", "Source")
    return f"## {family.title}\n\n{family.note}\n\n{_table(head, map(_metric_row, family.metrics))}\n"


def _validation() -> str:
    families = _table(
        ("Key", "Exposed names", "Title", "Meaning", "Source"),
        (
            (
                f"`{family.key}`",
                f"`{family.name_pattern}`",
                family.title,
                _cell(family.meaning),
                family.source,
            )
            for family in VALIDATION_FAMILIES
        ),
    )
    statistics = _table(
        ("Statistic", "Meaning"), ((f"`{one.pattern}`", _cell(one.meaning)) for one in VALIDATION_STATISTICS)
    )
    examples = " and ".join(f"`{family.example}`" for family in VALIDATION_FAMILIES)
    return (
        "## Validation results by data source\n\n"
        f"Data sources and variables come from the data set and the reward function, as in {examples}.\n\n"
        f"{families}\n\n"
        "The statistic is one of these, N being the number of responses to each validation prompt:\n\n"
        f"{statistics}\n"
    )


def render_markdown() -> str:
    """The whole page."""
    return "\n".join([_INTRO, *map(_family, FAMILIES), _validation()])


def main() -> None:
    """Write the page under the current directory, which should be the repository's root."""
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(render_markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
