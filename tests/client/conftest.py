"""A client that has just been imported, and a stand-in for the collector."""

import os
import threading
from collections.abc import Iterator

import pytest

from rl_insight import faults
from rl_insight.client import client
from tests.client.stub import Stub


@pytest.fixture(autouse=True)
def new_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process's client as after import, with nothing configured but a short interval."""
    for name in list(os.environ):
        if name.startswith(("RL_INSIGHT_", "SLURM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RL_INSIGHT_INTERVAL", "0.1")
    # A handler left behind would be in the way of other tests; test_exits runs processes of its own.
    monkeypatch.setenv("RL_INSIGHT_SIGTERM", "0")
    monkeypatch.setattr(faults, "_logged", set())
    client.finish(0)
    client.__init__()  # type: ignore[misc]
    yield
    client.finish(0)
    client.__init__()  # type: ignore[misc]
    for thread in threading.enumerate():
        if thread.name == "rl_insight":
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server; at the end, all that it was sent was as docs/reports.md says."""
    with Stub() as server:
        yield server
        client.finish(5)
    assert server.faults == []


@pytest.fixture
def server(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """The stub, named by the environment."""
    monkeypatch.setenv("RL_INSIGHT_SERVER_URL", stub.url)
    return stub
