"""verl's trainer with SGLang."""

from dashboards_src.run import RUN
from dashboards_src.sections import sglang
from dashboards_src.trainer import trainer_dashboard

DASHBOARD = trainer_dashboard(
    "verl_trainer_v1_with_sglang_engine",
    "SGLang",
    sglang.SECTIONS,
    running=sglang.RUNNING,
    kv_cache=RUN.select(sglang.TOKEN_USAGE),
    waiting=sglang.of_schedulers(sglang.QUEUED),
    waiting_panel="Queued requests",
)
