"""Whether the data arrives at all: scrape targets and alerts."""

from generator.dashboard import Section
from generator.fields import GREEN, ORANGE, RED, column, fixed_color, value_text
from generator.panels import table
from generator.queries import Query
from generator.transformations import columns

JOBS = "rl-insight.*|vllm|sglang|transfer_queue|trainer_metrics|node-exporter|dcgm-exporter|npu-exporter"
"""The jobs whose targets a run's panels are read from."""

# The run's own and those of no run, such as hardware exporters; not other runs'.
OF_RUN_OR_NONE = 'project=~"$project|", experiment_name=~"$experiment_name|"'

UP = f'up{{job=~"{JOBS}", {OF_RUN_OR_NONE}}}'
FIRING = f'ALERTS{{alertstate="firing", {OF_RUN_OR_NONE}}}'

TITLE = "Scrape targets and alerts"

TARGETS = Section(
    TITLE,
    [
        table(
            "Scrape targets",
            Query(UP, instant=True, shape="table"),
            description="Every endpoint that Prometheus reads for this run and its hardware. What is down leaves its "
            "panels empty; Prometheus says why under Status, Targets.",
            unit="none",
            width=14,
            height=9,
            sort_by="state",
            descending=False,
            transformations=[
                columns(
                    hidden=("Time", "__name__"),
                    renamed={"Value": "state"},
                    order=("job", "instance", "Value", "replica", "project", "experiment_name"),
                )
            ],
            overrides=[
                column(
                    "state",
                    mappings=[value_text({"1": ("up", GREEN), "0": ("down", RED)})],
                    custom__cellOptions={"type": "color-text"},
                )
            ],
        ),
        table(
            "Alerts firing",
            Query(FIRING, instant=True, shape="table"),
            description="Alerts of this run and its hardware that Prometheus's rules fire now; its Alerts page shows "
            "since when.",
            unit="none",
            width=10,
            height=9,
            transformations=[
                columns(
                    hidden=("Time", "Value", "__name__", "alertstate"),
                    order=("alertname", "severity", "experiment_name"),
                )
            ],
            overrides=[
                column("severity", custom__cellOptions={"type": "color-text"}, color=fixed_color(ORANGE)),
            ],
        ),
    ],
)
