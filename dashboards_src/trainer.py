"""A trainer's dashboard, whatever engine it rolls out with: the sections and their order."""

from collections.abc import Sequence

from dashboards_src.run import RUN, TAG, run_variables
from dashboards_src.scalars import metric, select
from dashboards_src.sections import asynchronous, hardware, precision, targets, timeline, timing, training
from dashboards_src.sections.other import everything_else
from dashboards_src.sections.overview import overview
from dashboards_src.sections.transfer_queue import TRANSFER_QUEUE
from generator.dashboard import Annotation, Dashboard, DashboardLinks, Section

STEPS = Annotation(
    "Training steps",
    # A window would reach over several points and smear the moment; this is true at one point a step.
    f"{select('training/global_step')} != {select('training/global_step')} offset $__interval",
    title="step of {{experiment_name}}",
    color="rgba(120, 120, 120, 0.5)",
    panels=[
        *((timeline.SYNC.title, panel.title) for panel in timeline.SYNC.panels),
        *((timeline.ASYNC.title, panel.title) for panel in timeline.ASYNC.panels),
    ],
)

ALERTS = Annotation(
    "Alerts",
    targets.FIRING,
    title="{{alertname}}",
    text="{{severity}} {{experiment_name}}",
    tags=("severity",),
    color="red",
)


def trainer_dashboard(
    name: str,
    engine: str,
    engine_sections: Sequence[Section],
    *,
    running: str,
    kv_cache: str,
    waiting: str,
    waiting_panel: str,
) -> Dashboard:
    """The dashboard of verl's trainer with the engine's own sections; the rest is shared.

    `running` is a metric that the engine always reports, `kv_cache` and `waiting` are PromQL, and
    `waiting_panel` is the title of the panel that shows the latter in full.
    """
    sections = [
        overview(kv_cache=RUN.max(kv_cache), waiting=RUN.sum(waiting), waiting_panel=waiting_panel),
        timeline.SYNC,
        timeline.ASYNC,
        training.LEARNING,
        training.VALIDATION,
        training.ACTOR,
        training.CRITIC,
        training.LENGTHS,
        timing.TIMING,
        timing.THROUGHPUT,
        precision.PRECISION,
        *engine_sections,
        asynchronous.ASYNC,
        TRANSFER_QUEUE,
        training.DISTILLATION,
        hardware.NODES,
        hardware.GPUS,
        hardware.NPUS,
        targets.TARGETS,
    ]
    return Dashboard(
        name=name,
        description=f"Is an RL run healthy, and if not, where to look: verl's trainer with {engine} as rollout engine.",
        sections=[*sections, everything_else(sections)],
        variables=run_variables(f"{metric('training/global_step').name}|{running}"),
        annotations=(STEPS, ALERTS),
        links=(DashboardLinks("RL-Insight", TAG),),
        tags=(TAG, "verl", engine.lower()),
    )
