"""Trainer metrics that no panel lists: whatever a run reports still shows."""

import re
from collections.abc import Iterable

from dashboards_src.catalog import TRAINER_METRICS
from dashboards_src.run import BY_RUN, RUN, TRAINER
from dashboards_src.scalars import names
from generator.dashboard import Section
from generator.fields import column
from generator.panels import table, timeseries
from generator.queries import Query
from generator.transformations import columns
from generator.variables import Variable

_BY_REGEX = re.compile(r'__name__=~"([^"]+)"')


def everything_else(sections: Iterable[Section]) -> Section:
    """A section of all trainer metrics that none of `sections` shows."""
    listed = any_of(name.removeprefix(TRAINER) for name in _shown(sections))
    others = f'__name__=~"{TRAINER}.+", __name__!~"{TRAINER}(val_(core|aux)_.+|.+_(bucket|created)|{listed})"'
    choice = Variable(
        "metric",
        "Other metric",
        f"label_values({RUN.select('', others)}, __name__)",
        multi=True,
    )
    return Section(
        "Everything else that the trainer reports",
        [
            table(
                "Metrics that no panel lists",
                Query(
                    f'label_replace({RUN.select("", others)}, "metric", "$1", "__name__", "{TRAINER}(.+)")',
                    instant=True,
                    shape="table",
                ),
                description="The last value of every trainer metric that no other panel shows: new ones, your own, and "
                "those of other algorithms. Choose some above to see them over time.",
                unit="none",
                width=24,
                height=9,
                sort_by="metric",
                descending=False,
                overrides=[column("metric", custom__width=520)],
                transformations=[
                    columns(
                        hidden=("Time", "__name__", "job", "instance"),
                        renamed={"Value": "last"},
                        order=("metric", "Value", "experiment_name", "project"),
                    )
                ],
            ),
            timeseries(
                "$metric",
                Query(RUN.select("", '__name__=~"$metric"'), BY_RUN),
                description="A trainer metric that no other panel shows, over time. Its name says what verl or your "
                "code calls it.",
                unit="none",
                width=8,
                repeat="metric",
            ),
        ],
        variables=[choice],
    )


def _shown(sections: Iterable[Section]) -> set[str]:
    """The names of the catalog's metrics that a query of `sections` asks for, by name or by regex."""
    queries = [query.text for section in sections for panel in section.panels for query in panel.queries]
    words = {word for text in queries for word in re.findall(r"\w+", text)}
    patterns = [re.compile(pattern) for text in queries for pattern in _BY_REGEX.findall(text)]
    known = {name for metric in TRAINER_METRICS for name in names(metric)}
    return {name for name in known if name in words or any(pattern.fullmatch(name) for pattern in patterns)}


def any_of(names: Iterable[str]) -> str:
    """A regex that matches these names and no others, with what they begin with written once.

    Grafana asks for a variable's values by GET, and proxies hold an address to some kilobytes.
    """
    ends: dict[str, set[str]] = {}
    for name in names:
        first, _, rest = name.partition("_")
        ends.setdefault(first, set()).add(rest)
    return "|".join(f"{first}{_tail(rests)}" for first, rests in sorted(ends.items()))


def _tail(rests: set[str]) -> str:
    more = rests - {""}
    if not more:
        return ""
    tail = f"_({any_of(more)})" if len(more) > 1 else f"_{next(iter(more))}"
    return f"({tail})?" if "" in rests else tail
