"""verl's trainer with vLLM."""

from dashboards_src.run import RUN
from dashboards_src.sections import vllm
from dashboards_src.trainer import trainer_dashboard

DASHBOARD = trainer_dashboard(
    "verl_trainer_v1_with_vllm_engine",
    "vLLM",
    vllm.SECTIONS,
    running=vllm.RUNNING,
    kv_cache=RUN.select(vllm.KV_CACHE),
    waiting=RUN.select(vllm.WAITING),
    waiting_panel="Waiting requests",
)
