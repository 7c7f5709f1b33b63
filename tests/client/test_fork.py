"""Forked children: a source of their own, nothing of the parent's, and no lock that nobody holds."""

import pytest

from tests.client import scripts
from tests.client import stub as answers
from tests.client.stub import Stub

PREFIX = "rl_insight_monitor_"

FORKS = """
    import os, sys, time, warnings, rl_insight
    warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads is what this is about

    def child(work):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work()
                rl_insight.finish()
                code = 0
            finally:
                os._exit(code)
        return pid

    def wait(pid):
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

    rl_insight.init(project="p", experiment_name="e")
"""


def forked(program: str) -> str:
    return FORKS + program


def test_a_child_is_a_source_of_its_own(stub: Stub) -> None:
    program = forked("""
    rl_insight.metric_count("steps", 5)
    rl_insight.update_prometheus_config(["h:1"], "vllm")
    held = rl_insight.trace_state("update", state_lane_id="rank_0")
    held.__enter__()

    def work():
        held.__exit__(None, None, None)
        rl_insight.metric_count("steps", 2)
        with rl_insight.trace_state("load", state_lane_id="rank_0"):
            pass

    wait(child(work))
    rl_insight.metric_count("steps", 5)
    """)
    assert scripts.run(stub.url, program) == (0, "", "")
    pids = {report["source"]["id"]: report["source"]["pid"] for report in stub.reports}
    assert len(pids) == len(set(pids.values())) == 2
    [child] = [source for source in pids if ("rank_0", "load") in stub.totals(source)]
    [parent] = set(pids) - {child}
    assert stub.series(parent) == {PREFIX + "steps_total{}": 10.0}
    assert stub.series(child) == {PREFIX + "steps_total{}": 2.0}
    assert set(stub.totals(child)) == {("rank_0", "load")}
    assert [span["name"] for span in stub.spans(parent)] == ["update"]
    of_child = [report for report in stub.reports if report["source"]["id"] == child]
    assert [report["targets"] for report in of_child] == [[]] * len(of_child)
    assert of_child[0]["run"] == {"project": "p", "experiment_name": "e"}
    assert [report["sequence"] for report in of_child] == list(range(1, len(of_child) + 1))


def test_a_child_that_reports_nothing_is_no_source(stub: Stub) -> None:
    program = forked("""
    rl_insight.metric_count("steps")
    wait(child(lambda: None))
    """)
    assert scripts.run(stub.url, program) == (0, "", "")
    assert len(stub.sources()) == 1


def test_forks_in_the_middle_of_flushes_harm_nobody(stub: Stub) -> None:
    stub.answer = answers.slow(0.02)
    program = forked("""
    import threading
    def load():
        while True:
            for number in range(200):
                rl_insight.metric_count("parent", 1.0, number=str(number))
                rl_insight.metric_histogram("seconds", 0.3)
                with rl_insight.trace_state("update", state_lane_id="rank_0"):
                    pass
    for _ in range(2):
        threading.Thread(target=load, daemon=True).start()

    def work():
        for number in range(10):
            rl_insight.metric_count("child", 1.0, number=str(number))

    for _ in range(20):
        wait(child(work))
    """)
    code, out, err = scripts.run(stub.url, program, RL_INSIGHT_INTERVAL="0.1")
    assert (code, out, err.replace("\n", "")[:20]) in [(0, "", ""), (0, "", "rl_insight dropped t")]
    children = [source for source in stub.sources() if any("child" in name for name in stub.series(source))]
    assert len(children) == 20
    for source in children:
        assert stub.series(source) == {f'{PREFIX}child_total{{number="{number}"}}': 1.0 for number in range(10)}
        assert [report["final"] for report in stub.reports if report["source"]["id"] == source][-1] is True
    assert len(stub.sources()) == 21


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_children_flush_at_their_end(stub: Stub, method: str, tmp_path: object) -> None:
    file = f"{tmp_path}/program.py"
    with open(file, "w") as program:
        program.write(MULTIPROCESSING)
    assert scripts.run(stub.url, f"import runpy\nrunpy.run_path({file!r}, run_name='__main__')", METHOD=method)[0] == 0
    children = [source for source in stub.sources() if PREFIX + "batches_total{}" in stub.series(source)]
    assert len(children) == 3
    for source in children:
        assert stub.series(source) == {PREFIX + "batches_total{}": 4.0}
        assert [report["final"] for report in stub.reports if report["source"]["id"] == source][-1] is True


MULTIPROCESSING = """
import multiprocessing, os, sys, warnings
import rl_insight

def work():
    rl_insight.metric_count("batches", 4)

if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    sys.modules["__main__"].__spec__ = None
    rl_insight.init(project="p", experiment_name="e")
    context = multiprocessing.get_context(os.environ["METHOD"])
    processes = [context.Process(target=work) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
"""
