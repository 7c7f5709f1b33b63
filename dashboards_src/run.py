"""Whose data a panel shows: the run, and the data sources it is read from."""

from generator.promql import Scope
from generator.variables import Variable

RUN = Scope((("project", "project"), ("experiment_name", "experiment_name")))
"""A run is a project and an experiment; every query of a metric that carries them goes through this."""

UNSCOPED = Scope()
"""For metrics without a run: hardware belongs to whoever uses the machine."""

BY_RUN = "{{experiment_name}}"
"""Legend of a series that stands for a whole run."""

BY_REPLICA = "{{experiment_name}}/{{replica}}"
"""Legend of a series that stands for one rollout replica."""

TRAINER = "rl_insight_monitor_"

DATA_SOURCES = (
    Variable("datasource", "Prometheus", "prometheus", kind="datasource"),
    Variable("tempo", "Tempo", "tempo", kind="datasource"),
)


def run_variables(metrics: str) -> tuple[Variable, ...]:
    """The data sources, and the runs that report a metric whose name matches the regex `metrics`.

    There is no "All": the first run is chosen at first, so that what is stacked is one run's.
    Where no series has these labels a variable is empty, and the filters match what has none.
    """
    return (
        *DATA_SOURCES,
        Variable("project", "Project", f'label_values({{__name__=~"{metrics}"}}, project)', multi=True),
        Variable(
            "experiment_name",
            "Experiment",
            f'label_values({{__name__=~"{metrics}", project=~"$project"}}, experiment_name)',
            multi=True,
        ),
    )


TAG = "rl-insight"
"""On every dashboard of ours; the menu of dashboards lists what carries it."""
