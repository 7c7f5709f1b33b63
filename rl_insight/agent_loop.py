"""Sessions of an agent loop: one span and a few gauges for each, once it has finished."""

from collections.abc import Mapping, Sequence
from time import monotonic_ns, time_ns
from typing import Any

from rl_insight.api import metric_gauge
from rl_insight.client import client
from rl_insight.faults import Refused
from rl_insight.names import text
from rl_insight.trace import trace_span

_SHARE = 3
"""Gauges of sessions take at most this part, a third, of the series that a process may have."""

_TURN_TIMES_KEPT = 64
"""Training steps of which the first and the last turn are remembered."""


def agent_loop_lane_id(experiment_name: object, sample: object, session: object, traj: object) -> str:
    """The lane of one trajectory in a timeline."""
    return f"experiment={text(experiment_name)}/{_leaf(sample, session, traj)}"


def agent_loop_session(
    *,
    project: object = None,
    experiment_name: object,
    sample: object,
    session: object,
    traj: object = 0,
    uid: object = None,
    global_steps: object = None,
    session_id: object = None,
) -> "AgentLoopSession":
    """Begins a session of an agent loop; its `finish` reports it."""
    named = {
        "project": project,
        "experiment_name": experiment_name,
        "sample": sample,
        "session": session,
        "traj": traj,
        "state_lane_id": agent_loop_lane_id(experiment_name, sample, session, traj),
        "uid": uid,
    }
    identity: dict[str, Any] = {name: _string(value) for name, value in named.items()}
    identity["global_steps"] = "" if global_steps is None else global_steps
    identity["session_id"] = _string(session_id)
    return AgentLoopSession(identity)


class AgentLoopSession:
    """A session under way. `identity` says which: strings, "" where absent, but `global_steps` stays a number."""

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self.identity = identity
        self._start_ns = time_ns()
        self._begun = monotonic_ns()
        self._finished = False

    def finish(
        self,
        *,
        trajectories: Sequence[Any],
        status: str,
        runner_name: str | None = None,
        reward_source: str | None = None,
        finished: bool | None = None,
    ) -> None:
        """Reports the session, once; `status` is success, failure, empty, capacity_exhausted or error."""
        if self._finished:
            return
        self._finished = True
        with client.guard("agent_loop_session"):
            end_ns = self._start_ns + monotonic_ns() - self._begun
            outcome = {
                "monitor.trace_source": "session",
                "runner_name": _string(runner_name),
                "status": _string(status),
                "num_trajectories": len(trajectories),
                "reward_source": _string(reward_source),
                "finished": "" if finished is None else finished,
            }
            trace_span(
                name="agent_session",
                start_time_ns=self._start_ns,
                end_time_ns=end_ns,
                attributes={**self.identity, **outcome},
            )
            self._show(trajectories, self._start_ns, end_ns)

    def _show(self, trajectories: Sequence[Any], start_ns: int, end_ns: int) -> None:
        """Sets the gauges by which a dashboard lists runs, samples, sessions and trajectories."""
        sample, session = self.identity["sample"], self.identity["session"]
        run = {
            "project": self.identity["project"],
            "experiment_name": self.identity["experiment_name"],
            "global_steps": text(self.identity["global_steps"]),
        }
        of_session = {**run, "sample": sample, "session": session}
        _info("run", run, f"Run {run['experiment_name']}")
        _info("sample", {**run, "sample": sample}, f"Sample {sample}")
        _info("session", {**of_session, "sess_key": f"sample={sample}/session={session}"}, f"Session {session}")
        for place, trajectory in enumerate(trajectories):
            chain = _of(trajectory, "chain_id")
            traj = text(place if chain is None else int(chain) - 1)
            leaf = _leaf(sample, session, traj)
            _info("traj", {**of_session, "traj": traj, "leaf": leaf}, _trajectory_title(traj, trajectory))
        _turns.show(run, start_ns / 1e9, end_ns / 1e9)


def _info(what: str, labels: dict[str, str], title: str) -> None:
    """Sets `agent_loop_…_info` to 1, unless sessions have as many series as they may."""
    metrics, source = client.metrics, client.source
    if metrics is None or source is None:
        return
    key = (what, *labels.values(), title)
    seen = _seen.of(source.id)
    if key not in seen:
        if len(seen) >= metrics.max_series // _SHARE:
            source.dropped.refuse(
                Refused("agent_loop_limit", f"sessions have {len(seen)} gauges, which is their limit")
            )
            return
        seen.add(key)
    metric_gauge(f"agent_loop_{what}_info", 1.0, "What an agent loop has worked on", **labels, title=title)


class _Seen:
    """The info gauges of the source that reports now."""

    def __init__(self) -> None:
        self._source_id = ""
        self._keys: set[tuple[str, ...]] = set()

    def of(self, source_id: str) -> set[tuple[str, ...]]:
        if source_id != self._source_id:
            self._source_id, self._keys = source_id, set()
        return self._keys


class _Turns:
    """When the first session of a training step began and the last one ended, in seconds since 1970."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, ...], tuple[float, float]] = {}

    def show(self, run: dict[str, str], start: float, end: float) -> None:
        key = tuple(run.values())
        first, last = self._times.get(key, (start, end))
        first, last = self._times[key] = min(first, start), max(last, end)
        while len(self._times) > _TURN_TIMES_KEPT:
            self._times.pop(next(iter(self._times)), None)
        metric_gauge("agent_loop_first_turn_unixtime", first, "Start of a step's first session", **run)
        metric_gauge("agent_loop_last_turn_unixtime", last, "End of a step's last session", **run)


_seen = _Seen()
_turns = _Turns()


def _trajectory_title(traj: str, trajectory: object) -> str:
    reward, turns = _of(trajectory, "reward_score"), _of(trajectory, "num_turns")
    known = [f"reward {float(reward):g}"] if reward is not None else []
    known += [f"{int(turns)} turns"] if turns is not None else []
    return ", ".join([f"Trajectory {traj}", *known])


def _of(trajectory: object, field: str) -> Any:
    if isinstance(trajectory, Mapping):
        return trajectory.get(field)
    return getattr(trajectory, field, None)


def _leaf(sample: object, session: object, traj: object) -> str:
    return f"sample={text(sample)}/session={text(session)}/traj={text(traj)}"


def _string(value: object) -> str:
    return "" if value is None else text(value)
