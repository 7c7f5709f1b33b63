"""The job that this process belongs to: what all processes of one training job share."""

import os
import sys

from rl_insight import faults
from rl_insight.names import text

_NO_JOB = "f" * 8
"""Ray's id for no job."""


def job_id() -> str:
    """Ray's job where Ray is loaded and up, else `RL_INSIGHT_RUN_ID`, else `SLURM_JOB_ID`, else ""."""
    job = _ray_job() or os.environ.get("RL_INSIGHT_RUN_ID") or os.environ.get("SLURM_JOB_ID") or ""
    return text(job)[:200]


def _ray_job() -> str:
    """Ray's job id and, as it counts from 1 in every cluster, the Ray session that it counts in; "" where none."""
    ray = sys.modules.get("ray")  # never imported by us
    is_initialized = getattr(ray, "is_initialized", None)  # absent while another thread imports Ray
    if is_initialized is None:
        return ""
    try:
        if not is_initialized():
            return ""
        context = ray.get_runtime_context()  # type: ignore[union-attr]
        job = text(context.get_job_id() or "")
        session = getattr(context, "get_session_name", None)
        scope = text(session()) if session else text(getattr(context, "gcs_address", ""))
    except Exception as error:  # whatever Ray raises must not end the reports
        faults.warn("ray", f"does without Ray's job id: asking for it raised {type(error).__name__}: {error}")
        return ""
    if not job or job == _NO_JOB:
        return ""
    return f"{job}@{scope}" if scope else job
