"""Configuration: where it comes from, what wins, and what bad values come to."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import rl_insight
from rl_insight.client import client
from rl_insight.settings import Settings, read
from tests.client.stub import Stub


def settings(config: object = None) -> Settings:
    found = read(config)
    assert found is not None
    return found


class Resolving(Mapping[str, Any]):
    """Like OmegaConf's: no dict, and raises an error of its own for what it cannot resolve."""

    def __init__(self, **content: Any) -> None:
        self._content = content

    def __getitem__(self, key: str) -> Any:
        if self._content[key] == "${unresolved}":
            raise RuntimeError("InterpolationKeyError")
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)


def test_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {
        "server": {"url": "http://config:1", "token": "of-config"},
        "interval": 5,
        "namespace": "config",
        "max_series": 7,
    }
    monkeypatch.delenv("RL_INSIGHT_INTERVAL")
    found = settings(config)
    assert (found.url.geturl(), found.token) == ("http://config:1", "of-config")
    assert (found.interval, found.namespace, found.max_series) == (5.0, "config", 7)
    monkeypatch.setenv("RL_INSIGHT_SERVER_URL", "https://env:2/path")
    monkeypatch.setenv("RL_INSIGHT_TOKEN", "of-env")
    monkeypatch.setenv("RL_INSIGHT_INTERVAL", "0.5")
    monkeypatch.setenv("RL_INSIGHT_NAMESPACE", "my env")
    monkeypatch.setenv("RL_INSIGHT_MAX_SERIES", "9")
    found = settings(config)
    assert (found.url.geturl(), found.token) == ("https://env:2/path", "of-env")
    assert (found.interval, found.namespace, found.max_series) == (0.5, "my_env", 9)


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RL_INSIGHT_INTERVAL")
    found = settings({"server": {"url": "http://h:1"}})
    assert (found.token, found.interval, found.namespace, found.max_series) == ("", 2.0, "rl_insight_monitor", 10_000)


@pytest.mark.parametrize(
    "config", [{}, None, {"server": None}, {"server": {}}, {"server": "x"}, {"server": {"url": ""}}, Resolving()]
)
def test_without_a_url_one_error_is_logged_and_nothing_happens(config: Any, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        rl_insight.init(project="p", experiment_name="e", config=config)
    rl_insight.metric_gauge("loss", 1.0)
    rl_insight.metric_count("steps")
    rl_insight.metric_histogram("seconds", 1.0)
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    rl_insight.trace_span(name="x", start_time_ns=1, end_time_ns=2, attributes={})
    rl_insight.update_prometheus_config(["h:1"], "vllm")
    assert rl_insight.trace_op("op", extra_labels=lambda me: {"a": 1 / 0})(abs)(-3) == 3
    rl_insight.agent_loop_session(experiment_name="e", sample=1, session=1).finish(trajectories=[], status="empty")
    rl_insight.finish()
    assert client.source is None
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "RL_INSIGHT_SERVER_URL" in caplog.text


def test_a_client_that_is_off_may_be_switched_on(stub: Stub) -> None:
    rl_insight.init()
    rl_insight.metric_count("steps")
    rl_insight.init(project="p", experiment_name="e", config={"server": {"url": stub.url}})
    rl_insight.metric_count("steps")
    rl_insight.finish()
    assert stub.series() == {"rl_insight_monitor_steps_total{}": 1.0}


@pytest.mark.parametrize(
    "url",
    [
        "localhost:18080",
        "10.0.0.1",
        "ftp://h:1",
        "http://",
        "http://:18080",
        "http://h:port",
        "http://h:70000",
        "http://h:0",
        "http://h h:1",
        "http://h:1/?x=1",
        "http://h:1/#x",
        "http://[::1:80",
        "http://größe:1",
        "http://h:1/\nx",
        "http://h\x00:1",
        "nonsense",
        17,
        ["http://h:1"],
    ],
)
def test_a_bad_url_is_one_error_and_then_silence(url: Any, caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.init(config={"server": {"url": url}})
    rl_insight.metric_gauge("loss", 1.0)
    rl_insight.finish()
    assert client.source is None
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "http://host:18080" in caplog.text or "must be a string" in caplog.text


def test_a_password_in_the_url_is_refused_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    rl_insight.init(config={"server": {"url": "http://user:s3cret@h:1"}})
    assert len(caplog.messages) == 1
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("interval", "soon"),
        ("interval", 0),
        ("interval", "nan"),
        ("interval", 3600),
        ("interval", [2]),
        ("namespace", "x" * 41),
        ("namespace", 5),
        ("max_series", 0),
        ("max_series", 1.5),
        ("max_series", "inf"),
    ],
)
def test_bad_values_leave_the_default(
    key: str, value: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("RL_INSIGHT_INTERVAL")
    found = settings({"server": {"url": "http://h:1"}, key: value})
    assert (found.interval, found.namespace, found.max_series) == (2.0, "rl_insight_monitor", 10_000)
    assert len(caplog.messages) == 1
    assert f"RL_INSIGHT_{key.upper()}" in caplog.text


@pytest.mark.parametrize("token", ["two\nlines", "größe", "\x00"])
def test_a_token_that_no_header_can_carry_is_left_out(token: str, caplog: pytest.LogCaptureFixture) -> None:
    assert settings({"server": {"url": "http://h:1", "token": token}}).token == ""
    assert len(caplog.messages) == 1
    assert token not in caplog.text


def test_config_of_another_kind_of_mapping() -> None:
    config = Resolving(server=Resolving(url="http://h:1", token="${unresolved}"))
    assert settings(config).url.hostname == "h"
    assert settings(config).token == ""


@pytest.mark.parametrize("config", ["http://h:1", ["server"], 5])
def test_config_that_is_no_mapping(
    config: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RL_INSIGHT_SERVER_URL", "http://h:1")
    assert settings(config).url.hostname == "h"
    assert "mapping" in caplog.text


def test_the_namespace_is_in_front_of_every_metric(server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RL_INSIGHT_NAMESPACE", "my-team")
    rl_insight.metric_count("steps")
    rl_insight.finish()
    assert server.series() == {"my_team_steps_total{}": 1.0}


def test_names_of_a_run_that_are_no_strings(server: Stub) -> None:
    rl_insight.init(project=5, experiment_name=None)  # type: ignore[arg-type]
    rl_insight.finish()
    assert server.reports[-1]["run"] == {"project": "5", "experiment_name": ""}
