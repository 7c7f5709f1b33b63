"""The job of a process: Ray's where it is up, else what the environment says."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rl_insight.job import job_id
from tests.client.reading import Reading


def ray(
    *, up: bool = True, job: Any = "01000000", session: Callable[[], str] | None = None, address: str = ""
) -> SimpleNamespace:
    context = SimpleNamespace(get_job_id=lambda: job, gcs_address=address)
    if session is not None:
        context.get_session_name = session
    return SimpleNamespace(is_initialized=lambda: up, get_runtime_context=lambda: context)


@pytest.fixture(autouse=True)
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ray", raising=False)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    assert job_id() == ""
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    assert job_id() == "77"
    monkeypatch.setenv("RL_INSIGHT_RUN_ID", "mine")
    assert job_id() == "mine"
    monkeypatch.setenv("RL_INSIGHT_RUN_ID", "\udcff" + "x" * 300)
    assert job_id() == "?" + "x" * 199


@pytest.mark.parametrize(
    ("module", "job"),
    [
        (ray(session=lambda: "session_2026-01-01_7"), "01000000@session_2026-01-01_7"),
        (ray(address="10.0.0.1:6379"), "01000000@10.0.0.1:6379"),
        (ray(), "01000000"),
        (ray(up=False), "mine"),
        (ray(job=None), "mine"),
        (ray(job="ffffffff"), "mine"),
        (SimpleNamespace(), "mine"),
    ],
)
def test_with_ray(module: SimpleNamespace, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_INSIGHT_RUN_ID", "mine")
    monkeypatch.setitem(sys.modules, "ray", module)  # type: ignore[arg-type]
    assert job_id() == job


def test_ray_that_raises(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> str:
        raise SystemError("ray is confused")

    monkeypatch.setenv("RL_INSIGHT_RUN_ID", "mine")
    monkeypatch.setitem(sys.modules, "ray", ray(session=fail))  # type: ignore[arg-type]
    assert (job_id(), job_id()) == ("mine", "mine")
    assert len(caplog.messages) == 1


def test_the_job_may_become_known_later(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading()
    assert reading.report()["job"] == ""
    monkeypatch.setitem(sys.modules, "ray", ray())  # type: ignore[arg-type]
    assert reading.report()["job"] == "01000000"
