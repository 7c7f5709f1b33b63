"""The ends of a process: what is left is sent, within a bound, and quietly."""

import signal
import socket
import time

import pytest

from tests.client import scripts
from tests.client.stub import Stub

PREFIX = "rl_insight_monitor_"


def test_what_is_left_at_the_end_of_a_program_is_sent(stub: Stub) -> None:
    program = """
        import rl_insight
        rl_insight.init(project="p", experiment_name="e")
        rl_insight.metric_count("steps", 7)
        state = rl_insight.trace_state("update", state_lane_id="rank_0")
        state.__enter__()
    """
    assert scripts.run(stub.url, program) == (0, "", "")
    assert stub.series() == {PREFIX + "steps_total{}": 7.0}
    assert [span["open"] for span in stub.spans()] == [False]
    assert stub.reports[-1]["final"] is True


@pytest.mark.parametrize(
    ("end", "codes"),
    [("raise SystemExit(3)", [3]), ("raise KeyboardInterrupt", [1, 130, -signal.SIGINT]), ("1 / 0", [1])],
)
def test_so_it_is_at_the_end_of_one_that_fails(stub: Stub, end: str, codes: list[int]) -> None:
    code, _, err = scripts.run(stub.url, f"import rl_insight\nrl_insight.metric_count('steps')\n{end}")
    assert code in codes
    assert "rl_insight" not in err.replace("import rl_insight", "")
    assert stub.series() == {PREFIX + "steps_total{}": 1.0}


WAITING = """
    import signal, sys, threading, rl_insight
    rl_insight.init(project="p", experiment_name="e")
    rl_insight.metric_count("steps")
    print("ready", flush=True)
    sys.stdin.readline()
    rl_insight.metric_count("steps")
    print("go", flush=True)
    threading.Event().wait()
"""


def end_waiting(stub: Stub, program: str, number: signal.Signals, **more: str) -> tuple[int, str]:
    process = scripts.start(stub.url, program, **{"RL_INSIGHT_INTERVAL": "30", **more})
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "go\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    return process.returncode, err


def test_sigterm_flushes_and_kills_all_the_same(stub: Stub) -> None:
    assert end_waiting(stub, WAITING, signal.SIGTERM) == (-signal.SIGTERM, "")
    assert stub.series() == {PREFIX + "steps_total{}": 2.0}
    assert stub.reports[-1]["final"] is True


BUSY = """
    import rl_insight
    rl_insight.init(project="p", experiment_name="e")
    rl_insight.metric_count("steps", 3)
    print("busy", flush=True)
    while True:
        with rl_insight.trace_state("update", state_lane_id="rank_0", step="1"):
            pass
"""


def test_sigterm_does_not_wait_for_the_call_that_it_interrupts(stub: Stub) -> None:
    """A main thread that is always in a call holds the source's lock most of the time."""
    for number in range(1, 7):
        process = scripts.start(stub.url, BUSY, RL_INSIGHT_INTERVAL="30")
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (-signal.SIGTERM, "")
        assert len({report["source"]["id"] for report in stub.reports if report["final"]}) == number


def test_sigterm_is_left_alone_if_one_wishes(stub: Stub) -> None:
    assert end_waiting(stub, WAITING, signal.SIGTERM, RL_INSIGHT_SIGTERM="0") == (-signal.SIGTERM, "")
    assert stub.reports == []


def test_sigterm_is_left_to_who_handles_it(stub: Stub) -> None:
    handled = WAITING.replace(
        "rl_insight.init(", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); rl_insight.init("
    )
    assert end_waiting(stub, handled, signal.SIGTERM) == (5, "")
    assert stub.series() == {PREFIX + "steps_total{}": 2.0}


def test_what_is_killed_loses_an_interval_at_most(stub: Stub) -> None:
    program = WAITING.replace("threading.Event().wait()", "import time; time.sleep(1.5); print(1); time.sleep(60)")
    process = scripts.start(stub.url, program)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    stub.wait(lambda stub: stub.series().get(PREFIX + "steps_total{}") == 2.0)
    process.kill()
    process.communicate()
    assert not any(report["final"] for report in stub.reports)


def test_programs_end_soon_where_the_server_is_away() -> None:
    program = "import rl_insight; rl_insight.init(); rl_insight.metric_count('steps')"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refusing = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        black_hole = f"http://127.0.0.1:{listener.getsockname()[1]}"
        begin = time.monotonic()
        for process in [scripts.start(url, program) for url in (refusing, black_hole)]:
            _, err = process.communicate(timeout=30)
            assert process.returncode == 0
            assert "Traceback" not in err
            assert "unsent" in err
        assert time.monotonic() - begin < 15


def test_a_program_that_has_no_server_says_so_once(stub: Stub) -> None:
    program = """
        import rl_insight
        rl_insight.init()
        rl_insight.init(project="p", experiment_name="e", config={})
        for _ in range(3):
            rl_insight.metric_count("steps")
            with rl_insight.trace_state("update"):
                pass
        rl_insight.finish()
    """
    code, _, err = scripts.run("", program)
    assert code == 0
    assert err.count("\n") == 1
    assert "RL_INSIGHT_SERVER_URL" in err


def test_verls_logger_finishes_when_it_is_collected_as_garbage_at_the_end(stub: Stub) -> None:
    program = """
        import rl_insight
        class Tracking:
            def __init__(self):
                rl_insight.init(project="p", experiment_name="e")
            def __del__(self):
                rl_insight.finish()
        tracking = Tracking()
        rl_insight.metric_count("steps")
    """
    assert scripts.run(stub.url, program) == (0, "", "")
    assert stub.series() == {PREFIX + "steps_total{}": 1.0}


def test_threads_that_still_report_at_the_end_do_no_harm(stub: Stub) -> None:
    program = """
        import threading, rl_insight
        rl_insight.init()
        def report():
            while True:
                rl_insight.metric_count("calls")
                rl_insight.metric_gauge(f"late_{threading.get_ident()}", 1.0)
                with rl_insight.trace_state("update", state_lane_id="rank_0"):
                    pass
        for _ in range(4):
            threading.Thread(target=report, daemon=True).start()
        threading.Event().wait(0.3)
    """
    assert scripts.run(stub.url, program) == (0, "", "")
    assert stub.reports[-1]["final"] is True
