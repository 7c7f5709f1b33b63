"""How reports travel: once each, in order, kept until they are safe, whatever the server does."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import rl_insight
from rl_insight import delivery, transport
from rl_insight.client import client
from tests.client import stub as answers
from tests.client.reading import Reading, series
from tests.client.stub import Answer, Handler, Report, Stub

PREFIX = "rl_insight_monitor_"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(delivery, "UNAUTHORISED_PAUSE", 0.05)
    monkeypatch.setattr(transport, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(transport, "ANSWER_SECONDS", 1.0)


def start(config: dict[str, object] | None = None) -> None:
    rl_insight.init(project="p", experiment_name="e", config=config)


def sequences(server: Stub) -> list[int]:
    return [json.loads(gzip.decompress(body))["sequence"] for body in server.bodies]


def test_the_request(server: Stub) -> None:
    start()
    rl_insight.finish()
    path, headers = server.requests[0]
    assert path == "/api/v1/events"
    assert headers["Content-Type"] == "application/json"
    assert headers["Content-Encoding"] == "gzip"
    assert "Authorization" not in headers


def test_a_server_below_a_path(stub: Stub) -> None:
    start({"server": {"url": f"{stub.url}/rl/insight/"}})
    rl_insight.finish()
    assert stub.requests[0][0] == "/rl/insight/api/v1/events"


def test_one_connection_is_kept(server: Stub) -> None:
    start()
    for number in range(5):
        rl_insight.metric_gauge("loss", number)
        server.wait(lambda stub: stub.series().get(PREFIX + "loss{}") == number)  # noqa: B023
    rl_insight.finish()
    assert len({id(connection) for connection in server.connections}) == 1


def test_the_first_report_is_full_and_the_others_are_not(server: Stub) -> None:
    start()
    rl_insight.metric_gauge("loss", 1.0)
    server.wait(lambda stub: stub.series())
    rl_insight.metric_gauge("reward", 1.0)
    rl_insight.finish()
    assert [report["full"] for report in server.reports] == [True] + [False] * (len(server.reports) - 1)
    assert sequences(server) == list(range(1, len(server.bodies) + 1))


def test_a_report_whose_acknowledgement_is_lost_comes_again_byte_for_byte(server: Stub) -> None:
    server.script.extend([answers.accept_but_hang_up] * 5)
    start()
    rl_insight.metric_count("steps")
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    server.wait(lambda stub: len(stub.bodies) >= 6)
    rl_insight.metric_count("steps")
    rl_insight.finish()
    assert len(set(server.bodies[:6])) == 1
    assert server.series() == {PREFIX + "steps_total{}": 2.0}
    assert [span["number"] for span in server.spans()] == [1]
    assert sequences(server)[:7] == [1, 1, 1, 1, 1, 1, 2]


def test_everything_is_sent_when_the_server_asks_for_it(server: Stub) -> None:
    start()
    rl_insight.metric_count("steps")
    rl_insight.update_prometheus_config(["h:1"], "vllm")
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    server.wait(lambda stub: stub.series() and stub.targets() and stub.totals())
    server.script.append(answers.accept_and_ask_for_everything)
    rl_insight.metric_gauge("loss", 1.0)
    server.wait(lambda stub: stub.reports[-1]["full"] and stub.reports[-1]["sequence"] > 1)
    full = server.reports[-1]
    assert sorted(family["name"] for family in full["metrics"]) == [PREFIX + "loss", PREFIX + "steps_total"]
    assert full["targets"] == [{"job_name": "vllm", "targets": [{"target": "h:1", "labels": {}}]}]
    assert [row[:2] for row in full["states"]["totals"]] == [["rank_0", "update"]]
    assert full["spans"] == []


def test_a_collector_that_forgot_all_gets_everything_after_the_last_report(server: Stub) -> None:
    start()
    rl_insight.metric_count("steps")
    server.wait(lambda stub: stub.series())
    server.answer = answers.accept_and_ask_for_everything
    rl_insight.finish()
    assert [report["final"] for report in server.reports[-2:]] == [True, True]
    assert server.reports[-1]["full"] is True
    assert series(server.reports[-1:]) == {(PREFIX + "steps_total", ()): [1.0]}


def garbage(handler: Handler, report: Report) -> None:
    handler.wfile.write(b"\x00\x01 no HTTP\r\n\r\n")
    handler.hang_up()


def endless(handler: Handler, report: Report) -> None:
    handler.reply(200, b" " * 1_000_000)


@pytest.mark.parametrize(
    "bad",
    [
        answers.status(500, "<html>Internal Server Error</html>"),
        answers.status(502),
        answers.status(404, "not here"),
        answers.status(301, Location="http://example.invalid/"),
        answers.status(503, {"status": "error", "reason": "busy"}, Retry_After="0"),
        answers.status(429, {"status": "error", "reason": "too many"}, Retry_After="Fri, 31 Dec 1999 23:59:59 GMT"),
        answers.status(401, {"status": "error", "reason": "token"}),
        answers.status(200, "<html>Welcome to nginx</html>"),
        answers.status(200, ""),
        answers.status(200, b"\xff\xfe"),
        answers.status(200, "[" * 50_000),
        answers.status(200, {"status": "ok"}),
        answers.status(200, {"status": "ok", "acknowledged": 0, "full": False}),
        answers.status(200, {"status": "ok", "acknowledged": "1", "full": False}),
        answers.hang_up,
        answers.hang_up_within_the_body,
        answers.slow(0.3, answers.status(500)),
        garbage,
        endless,
    ],
)
def test_whatever_the_server_answers_nothing_is_lost(
    server: Stub, bad: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = bad
    start()
    rl_insight.metric_count("steps")
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    server.wait(lambda stub: len(stub.bodies) >= 3)
    rl_insight.metric_count("steps")
    assert len(set(server.bodies)) == 1
    server.answer = answers.accept
    rl_insight.finish()
    assert server.series() == {PREFIX + "steps_total{}": 2.0}
    assert len(server.spans()) == 1
    assert len(caplog.messages) == 1
    assert server.url in caplog.messages[0]


@contextmanager
def listening(behave: Callable[[socket.socket], None] | None = None) -> Iterator[str]:
    """The URL of a socket that listens; nobody accepts unless `behave` does."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        if behave is not None:
            threading.Thread(target=behave, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def refused() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def accept_and_say_nothing(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    time.sleep(5)
    connection.close()


@pytest.mark.parametrize("server_is", ["refusing", "black hole", "silent", "nowhere"])
def test_training_does_not_wait_for_a_server_that_is_away(
    server_is: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    silent = accept_and_say_nothing if server_is == "silent" else None
    with listening(silent) as url:
        if server_is in ("refusing", "nowhere"):
            url = refused() if server_is == "refusing" else "http://no-such-host.invalid:18080"
        monkeypatch.setenv("RL_INSIGHT_SERVER_URL", url)
        start()
        for number in range(1_000):
            rl_insight.metric_gauge("loss", number)
            rl_insight.metric_count("steps")
            with rl_insight.trace_state("update", state_lane_id="rank_0"):
                pass
        begin = time.monotonic()
        client.finish(0.3)
        assert time.monotonic() - begin < 3.0
    assert "unsent" in caplog.messages[-1]


def test_proxy_variables_are_not_heeded(server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, refused())
    start()
    rl_insight.metric_gauge("loss", 1.0)
    rl_insight.finish()
    assert server.series() == {PREFIX + "loss{}": 1.0}


@pytest.mark.parametrize("number", [400, 413])
def test_a_report_that_is_refused_costs_its_spans_and_nothing_else(
    server: Stub, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.script.append(answers.status(number, {"status": "error", "reason": "Bad luck."}))
    start()
    rl_insight.metric_count("steps")
    rl_insight.update_prometheus_config(["h:1"], "vllm")
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    server.wait(lambda stub: stub.series() and stub.targets())
    with rl_insight.trace_state("update", state_lane_id="rank_0"):
        pass
    rl_insight.finish()
    assert server.series() == {PREFIX + "steps_total{}": 1.0}
    assert [span["number"] for span in server.spans()] == [2]
    assert server.totals()["rank_0", "update"][1] == 2
    assert server.dropped() == {"reports_refused": 1, "spans_refused": 1}
    assert len(caplog.messages) == 1
    assert "Bad luck." in caplog.messages[0]


def test_a_source_that_is_always_refused_does_not_send_everything_for_ever(server: Stub) -> None:
    server.answer = answers.status(400, {"status": "error", "reason": "never"})
    start()
    rl_insight.metric_count("steps")
    server.wait(lambda stub: len(stub.bodies) >= 3)
    reports = [json.loads(gzip.decompress(body)) for body in server.bodies[:3]]
    assert [report["full"] for report in reports] == [True, True, False]
    assert [report["sequence"] for report in reports] == [1, 2, 3]


def test_retry_after_is_heeded(server: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script.append(answers.status(503, {"status": "error", "reason": "later"}, Retry_After="1"))
    start()
    begin = time.monotonic()
    server.wait(lambda stub: len(stub.bodies) >= 2)
    assert time.monotonic() - begin > 0.9


def test_pauses_grow_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "LONGEST_PAUSE", 30.0)
    monkeypatch.setenv("RL_INSIGHT_SERVER_URL", refused())
    start()
    assert client._sender is not None
    assert client.source is not None
    one = delivery.Delivery(client.source, client._sender)
    pauses = [one.send() for _ in range(15)]
    assert 0.1 <= pauses[0] <= 0.2
    assert 0.2 <= pauses[1] <= 0.4
    assert all(15.0 <= pause <= 30.0 for pause in pauses[9:])
    assert len(set(pauses)) == 15


def test_the_token_is_sent_and_never_logged(
    server: Stub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RL_INSIGHT_TOKEN", "s3cret")
    server.script.append(answers.status(401, {"status": "error", "reason": "wrong token"}))
    start()
    rl_insight.metric_count("steps")
    server.wait(lambda stub: stub.series())
    rl_insight.finish()
    assert {headers["Authorization"] for _, headers in server.requests} == {"Bearer s3cret"}
    assert len(caplog.messages) == 1
    assert "RL_INSIGHT_TOKEN" in caplog.text
    assert "s3cret" not in caplog.text + repr(client._settings)


def test_a_source_with_nothing_new_is_quiet_and_then_says_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading()
    rl_insight.metric_gauge("loss", 1.0)
    assert reading.report()["metrics"]
    assert reading.reporter.build("ns", final=False) is None
    now = time.monotonic()
    monkeypatch.setattr("rl_insight.report.monotonic", lambda: now + 11)
    report = reading.report()
    assert (report["metrics"], report["sequence"]) == ([], 2)


def test_finish_sends_all_that_is_left_within_its_bound(server: Stub) -> None:
    start()
    rl_insight.metric_count("steps", 7)
    rl_insight.finish()
    assert server.series() == {PREFIX + "steps_total{}": 7.0}
    assert server.reports[-1]["final"] is True
    begin = time.monotonic()
    rl_insight.finish()
    assert time.monotonic() - begin < 1


def test_finish_waits_for_a_server_that_comes_back(server: Stub) -> None:
    server.script.extend([answers.status(503)] * 4)
    start()
    rl_insight.metric_count("steps", 7)
    rl_insight.finish()
    assert server.series() == {PREFIX + "steps_total{}": 7.0}


def test_a_report_that_cannot_be_made_costs_no_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading()
    reading.report()
    rl_insight.metric_count("steps")
    with monkeypatch.context() as broken:
        broken.setattr("rl_insight.report._gzip", lambda body: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reading.report()
    assert series([reading.report()]) == {(PREFIX + "steps_total", ()): [1.0]}


def test_a_fault_of_the_sender_ends_neither_it_nor_silence(
    server: Stub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing = [ZeroDivisionError("oh"), ZeroDivisionError("oh")]
    original = delivery.Delivery.send

    def send(self: delivery.Delivery) -> float:
        if failing:
            raise failing.pop()
        return original(self)

    monkeypatch.setattr(delivery.Delivery, "send", send)
    start()
    rl_insight.metric_count("steps")
    server.wait(lambda stub: stub.series())
    assert [message for message in caplog.messages if "ZeroDivisionError" in message] == caplog.messages
    assert len(caplog.messages) == 1
