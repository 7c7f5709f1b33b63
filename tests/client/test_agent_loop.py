"""Sessions of agent loops: identity, span and gauges."""

import inspect
import time
from typing import Any

import pytest

import rl_insight
from rl_insight.agent_loop import agent_loop_lane_id, agent_loop_session
from rl_insight.client import client
from tests.client.reading import Reading, series

PREFIX = "rl_insight_monitor_agent_loop_"


def test_it_is_the_same_in_both_places() -> None:
    assert rl_insight.agent_loop_session is agent_loop_session
    parameters = inspect.signature(agent_loop_session).parameters
    assert {name: parameter.default for name, parameter in parameters.items() if parameter.default in (None, 0)} == {
        "project": None,
        "traj": 0,
        "uid": None,
        "global_steps": None,
        "session_id": None,
    }
    assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_identity() -> None:
    session = agent_loop_session(project="p", experiment_name="e/1", sample=3, session=1, global_steps=7)
    assert session.identity == {
        "project": "p",
        "experiment_name": "e/1",
        "sample": "3",
        "session": "1",
        "traj": "0",
        "state_lane_id": "experiment=e/1/sample=3/session=1/traj=0",
        "uid": "",
        "global_steps": 7,
        "session_id": "",
    }
    bare = agent_loop_session(experiment_name="e", sample="x", session=1, traj=2, uid=5, session_id="q").identity
    assert (bare["project"], bare["global_steps"], bare["uid"], bare["session_id"]) == ("", "", "5", "q")
    assert bare["state_lane_id"] == agent_loop_lane_id("e", "x", 1, 2)


def test_a_session_that_finished() -> None:
    begin = time.time_ns()
    session = agent_loop_session(project="p", experiment_name="e", sample=3, session=1, global_steps=7)
    trajectories = [{"chain_id": 2, "reward_score": 0.5, "num_turns": 3}, {"reward_score": None}]
    session.finish(trajectories=trajectories, status="success", runner_name="r", reward_source="rs", finished=True)
    session.finish(trajectories=[], status="error")
    report = Reading().report()
    [span] = report["spans"]
    assert (span["kind"], span["name"]) == ("span", "agent_session")
    assert begin - 10**9 < span["start_ns"] <= span["end_ns"]
    assert span["attributes"] == {
        **session.identity,
        "monitor.trace_source": "session",
        "runner_name": "r",
        "status": "success",
        "num_trajectories": 2,
        "reward_source": "rs",
        "finished": True,
    }
    run = {"project": "p", "experiment_name": "e", "global_steps": "7"}
    found: dict[str, list[dict[str, str]]] = {}
    for name, labels in series([report]):
        found.setdefault(name.removeprefix(PREFIX), []).append(dict(labels))
    assert found["run_info"] == [{**run, "title": "Run e"}]
    assert found["sample_info"] == [{**run, "sample": "3", "title": "Sample 3"}]
    of_session = {**run, "sample": "3", "session": "1"}
    assert found["session_info"] == [{**of_session, "sess_key": "sample=3/session=1", "title": "Session 1"}]
    leaf = "sample=3/session=1/traj=1"
    assert found["traj_info"] == [
        {**of_session, "traj": "1", "leaf": leaf, "title": "Trajectory 1, reward 0.5, 3 turns"},
        {**of_session, "traj": "1", "leaf": leaf, "title": "Trajectory 1"},
    ]
    assert found["first_turn_unixtime"] == found["last_turn_unixtime"] == [run]


def test_a_step_lasts_from_its_first_session_to_its_last() -> None:
    sessions = [agent_loop_session(experiment_name="e", sample=n, session=0, global_steps=1) for n in range(3)]
    for session in reversed(sessions):
        session.finish(trajectories=[], status="empty")
    report = Reading().report()
    values = {name.removeprefix(PREFIX): value[0] for (name, _), value in series([report]).items()}
    starts = [span["start_ns"] for span in report["spans"]]
    ends = [span["end_ns"] for span in report["spans"]]
    assert values["first_turn_unixtime"] == min(starts) / 1e9
    assert values["last_turn_unixtime"] == max(ends) / 1e9


def test_sessions_leave_room_for_other_series(caplog: pytest.LogCaptureFixture) -> None:
    for number in range(4_000):
        agent_loop_session(experiment_name="e", sample=number, session=0).finish(trajectories=[{}], status="success")
    rl_insight.metric_gauge("loss", 1.0)
    found = series(Reading().reports())
    assert ("rl_insight_monitor_loss", ()) in found
    assert len([name for name, _ in found if name.endswith("_info")]) == 3_333
    assert client.source is not None
    assert client.source.dropped.totals() == {"agent_loop_limit": 1 + 3 * 4_000 - 3_333}
    assert len([message for message in caplog.messages if "sessions" in message]) == 1


@pytest.mark.parametrize("trajectories", [None, 5, [{"chain_id": "x"}], [{"reward_score": "high"}], [object()]])
def test_trajectories_of_any_kind_do_not_disturb_training(trajectories: Any) -> None:
    session = agent_loop_session(experiment_name="e", sample=1, session=1)
    session.finish(trajectories=trajectories, status="success")
