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

VARIABLES = (
    Variable("datasource", "Prometheus", "prometheus", kind="datasource"),
    Variable("tempo", "Tempo", "tempo", kind="datasource"),
    Variable(
        "project",
        "Project",
        f'label_values({{__name__=~"{TRAINER}.+|rl_insight_state_seconds_total"}}, project)',
        multi=True,
        all_value=".*",
    ),
    Variable(
        "experiment_name",
        "Experiment",
        f'label_values({{__name__=~"{TRAINER}.+|rl_insight_state_seconds_total", project=~"$project"}}, '
        "experiment_name)",
        multi=True,
        all_value=".*",
    ),
)

TAG = "rl-insight"
"""On every dashboard of ours; the menu of dashboards lists what carries it."""
