"""The HTTP API, field by field."""

from pathlib import Path

import pytest
from starlette.datastructures import URL
from starlette.requests import Request

from .harness import LocalCollector
from .reports import RUN, gauge, report, targets

TARGETS = "/api/v1/prometheus/targets"


def test_healthz(collector: LocalCollector) -> None:
    answer = collector.client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_services_says_where_the_other_services_are(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, otlp_endpoint="http://127.0.0.1:1") as collector:
        expected = {"status": "ok", "otlp_port": 4318, "prometheus_port": 9090, "grafana_port": 3000}
        assert collector.client.get("/api/v1/services").json() == expected


def test_services_has_null_for_what_is_off(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, prometheus_port=None, grafana_port=None) as collector:
        expected = {"status": "ok", "otlp_port": None, "prometheus_port": None, "grafana_port": None}
        assert collector.client.get("/api/v1/services").json() == expected


def test_a_report_is_acknowledged_and_shown(collector: LocalCollector) -> None:
    answer = collector.accepted(report(run=RUN, metrics=[gauge("rl_insight_monitor_entropy", 0.7, rank="3")]))
    assert answer == {"status": "ok", "acknowledged": 1, "full": False}
    assert collector.value("rl_insight_monitor_entropy", rank="3", **RUN) == 0.7


def test_a_source_that_did_not_send_everything_is_asked_to(collector: LocalCollector) -> None:
    assert collector.accepted(report(sequence=7))["full"] is True
    assert collector.accepted(report(sequence=8, full=True))["full"] is False
    assert collector.accepted(report(sequence=9))["full"] is False


def test_a_plain_body_is_taken_too(collector: LocalCollector) -> None:
    answer = collector.client.post("/api/v1/events", json=report())
    assert answer.json()["acknowledged"] == 1


def test_every_call_but_two_needs_the_token(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, token="s3cret") as collector:
        client = collector.client
        for path in ("/healthz", "/metrics"):
            assert client.get(path).status_code == 200
        for path in ("/api/v1/services", "/api/v1/runs", TARGETS, "/api/v1/prometheus/sd", "/nowhere"):
            refused = client.get(path)
            assert refused.status_code == 401, path
            assert refused.headers["www-authenticate"] == "Bearer"
            assert "token" in refused.json()["reason"]
        for wrong in ("s3cret", "Bearer s3cre", "Bearer s3cret ", "Basic s3cret", "Bearer \u017f3cret".encode()):
            assert client.post("/api/v1/events", headers={"Authorization": wrong}).status_code == 401
        right = {"Authorization": "Bearer s3cret"}
        assert client.get("/api/v1/services", headers=right).status_code == 200
        assert client.post("/api/v1/events", json=report(), headers=right).status_code == 200


@pytest.mark.parametrize("host", ["x/healthz?", "x/healthz#", "x/metrics?a="])
def test_the_token_is_asked_for_by_the_path_and_not_by_the_host(
    tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As older versions of starlette have it.
    monkeypatch.setattr(Request, "url", property(lambda self: URL(f"http://{host}{self.scope['path']}")))
    with LocalCollector(tmp_path, token="s3cret") as collector:
        foreign = {"Host": host}
        body = {"targets": ["10.0.0.1:9100"]}
        assert collector.client.post(TARGETS, json=body, headers=foreign).status_code == 401
        assert collector.client.get("/healthz", headers=foreign).status_code == 200
        right = {**foreign, "Authorization": "Bearer s3cret"}
        assert "/nowhere." in collector.client.get("/nowhere", headers=right).json()["reason"]
        assert collector.client.post("/api/v1/events", content=b"", headers=right).status_code == 400
        assert collector.own("reports_total", outcome="refused") == 1


def test_a_page_of_another_site_changes_nothing(collector: LocalCollector) -> None:
    body = {"targets": ["10.0.0.1:9100"]}
    foreign = {"Origin": "https://example.org"}
    assert collector.client.post(TARGETS, json=body, headers=foreign).status_code == 403
    assert collector.client.post(TARGETS, json=body, headers={"Origin": "http://testserver"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/x", 404), ("PUT", TARGETS, 405), ("GET", "/docs", 404)]
)
def test_what_is_not_there_is_said_in_json(collector: LocalCollector, method: str, path: str, status: int) -> None:
    answer = collector.client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["status"] == "error"


def test_targets_are_registered_merged_listed_and_removed(collector: LocalCollector) -> None:
    client = collector.client
    first = client.post(TARGETS, json={"targets": ["10.0.0.1:9100", "[fd00::1]:9100"]})
    assert first.json() == {"status": "ok", "job_name": "trainer_metrics", "target_count": 2, "registered": 2}
    body = {"labels": {"zone": "a"}, "targets": ["10.0.0.2:9100", {"target": "10.0.0.1:9100", "labels": {"zone": "b"}}]}
    assert client.post(TARGETS, json=body).json()["target_count"] == 3
    assert client.post(TARGETS, json={"job_name": "vllm", "targets": ["h-1.x:80"]}).json()["target_count"] == 1
    listed = {(one["job_name"], one["target"]): one["labels"] for one in client.get(TARGETS).json()["targets"]}
    assert listed == {
        ("trainer_metrics", "10.0.0.1:9100"): {"zone": "b"},
        ("trainer_metrics", "10.0.0.2:9100"): {"zone": "a"},
        ("trainer_metrics", "[fd00::1]:9100"): {},
        ("vllm", "h-1.x:80"): {},
    }
    assert client.get(TARGETS, params={"job_name": "vllm"}).json()["target_count"] == 1
    one = {"job_name": "trainer_metrics", "target": "10.0.0.1:9100"}
    assert client.delete(TARGETS, params=one).json() == {
        "status": "ok",
        "job_name": "trainer_metrics",
        "target_count": 2,
    }
    assert client.delete(TARGETS, params=one).status_code == 404
    assert client.delete(TARGETS, params={"job_name": "vllm"}).status_code == 400


def test_discovery_has_prometheus_format(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, targets=[targets("10.0.0.1:8000", replica="0")]))
    collector.client.post(TARGETS, json={"targets": ["10.0.0.9:1"]})
    answer = collector.client.get("/api/v1/prometheus/sd")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [
        {"targets": ["10.0.0.9:1"], "labels": {"job": "trainer_metrics"}},
        {"targets": ["10.0.0.1:8000"], "labels": {"job": "vllm", "replica": "0", **RUN}},
    ]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"targets": ["http://10.0.0.1:9100/metrics"]}, "URL"),
        ({"targets": ["10.0.0.1"]}, "no port"),
        ({"targets": ["10.0.0.1:"]}, "no port"),
        ({"targets": ["10.0.0.1:0"]}, "port"),
        ({"targets": ["10.0.0.1:70000"]}, "port"),
        ({"targets": ["10.0.0.1:80a"]}, "port"),
        ({"targets": ["10.0.0.1:٣"]}, "port"),
        ({"targets": ["10.0.0.1:80\n"]}, "port"),
        ({"targets": ["fd00::1:9100"]}, "IPv6"),
        ({"targets": ["[fd00::zz]:9100"]}, "host"),
        ({"targets": ["999.1.1.1:9100"]}, "host"),
        ({"targets": ["a b:9100"]}, "host"),
        ({"targets": [":9100"]}, "host"),
        ({"targets": ["x" * 300 + ":9100"]}, "host"),
        ({"targets": []}, "at least one"),
        ({"targets": "10.0.0.1:9100"}, "list"),
        ({"targets": [7]}, "host:port"),
        ({"targets": [{"labels": {}}]}, "host:port"),
        ({"targets": ["a:1"], "labels": {"__address__": "b"}}, "reserved"),
        ({"targets": ["a:1"], "labels": {"job": "b"}}, "reserved"),
        ({"targets": [{"target": "a:1", "labels": {"instance": "b"}}]}, "reserved"),
        ({"targets": ["a:1"], "labels": {"a-b": "c"}}, "label name"),
        ({"targets": ["a:1"], "labels": {"a": {}}}, "text"),
        ({"targets": ["a:1"], "labels": {"a": "x" * 2000}}, "longer"),
        ({"targets": ["a:1"], "labels": ["a"]}, "object"),
        ({"targets": ["a:1"], "job_name": "a b"}, "job_name"),
        ({"targets": ["a:1"], "job_name": 7}, "job_name"),
        ({"targets": ["a:1"], "lables": {}}, "lables"),
        ([], "object"),
    ],
)
def test_a_wrong_registration_is_refused_with_a_reason(collector: LocalCollector, body: object, says: str) -> None:
    answer = collector.client.post(TARGETS, json=body)
    assert answer.status_code == 400
    assert answer.json()["status"] == "error"
    assert says in answer.json()["reason"]
    assert collector.client.get(TARGETS).json()["targets"] == []


def test_targets_may_be_held_to_networks(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, target_networks=("10.0.0.0/8", "fd00::/8")) as collector:
        for target, status in (("10.1.2.3:1", 200), ("[fd00::1]:1", 200), ("192.168.0.1:1", 400), ("a.b:1", 400)):
            assert collector.client.post(TARGETS, json={"targets": [target]}).status_code == status, target
        collector.accepted(report(run=RUN, targets=[targets("169.254.169.254:80", "10.0.0.5:8000")]))
        assert [
            one["target"] for one in collector.client.get(TARGETS, params={"job_name": "vllm"}).json()["targets"]
        ] == ["10.0.0.5:8000"]
        assert collector.own("targets_refused_total") == 1


def test_the_number_of_targets_is_bounded(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, max_targets=2) as collector:
        assert collector.client.post(TARGETS, json={"targets": ["a:1", "b:1"]}).status_code == 200
        answer = collector.client.post(TARGETS, json={"targets": ["c:1"]})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")


def test_the_number_of_targets_in_reports_is_bounded(tmp_path: Path) -> None:
    with LocalCollector(tmp_path, max_targets=4) as collector:
        collector.client.post(TARGETS, json={"targets": ["a:1"]})
        many = targets(*(f"10.0.{number // 200}.{number % 200}:80" for number in range(10_000)))
        collector.accepted(report(1, run=RUN, targets=[many], metrics=[gauge("g", 1)]))
        assert collector.client.get(TARGETS).json()["target_count"] == 4
        assert collector.own("targets_refused_total") == 9_997
        assert collector.value("g", **RUN) == 1
        collector.accepted(report(2, targets=[targets("10.0.0.1:90")]))
        assert collector.own("targets_refused_total") == 9_998
        collector.accepted(report(1, 2, run=RUN, targets=[targets("10.0.0.9:80", "10.0.0.8:80", "10.0.0.8:80")]))
        assert collector.client.get(TARGETS).json()["target_count"] == 3
        assert collector.own("targets_refused_total") == 9_998


def test_runs_lists_sources_and_what_waits(collector: LocalCollector) -> None:
    collector.accepted(report(1, run=RUN, metrics=[gauge("a", 1)]))
    collector.accepted(report(2, job="other"))
    answer = collector.client.get("/api/v1/runs").json()
    [run] = answer["runs"]
    assert (run["project"], run["experiment_name"], run["jobs"]) == ("math", "first", ["job-1"])
    [source] = run["sources"]
    assert (source["host"], source["pid"], source["series"], source["final"]) == ("node-1", 1001, 1, False)
    assert run["last_report"] == source["last_report"]
    assert [source["host"] for source in answer["waiting"]] == ["node-2"]


def test_the_collectors_own_metrics(collector: LocalCollector) -> None:
    collector.accepted(report(run=RUN, metrics=[gauge("a", 1)], targets=[targets("10.0.0.1:80")]))
    collector.accepted(report(run=RUN))
    collector.send_raw(b"not gzip")
    samples = collector.samples("rl_insight_collector_")
    assert collector.own("reports_total", outcome="accepted") == 1
    assert collector.own("reports_total", outcome="repeated") == 1
    assert collector.own("reports_total", outcome="refused") == 1
    assert collector.own("requests_refused_total", reason="gzip") == 1
    assert collector.own("events_total", kind="gauge") == 1
    assert collector.own("sources") == collector.own("runs") == collector.own("targets") == 1
    assert collector.own("handling_seconds_count") == 3
    assert collector.own("database_ok") == 1
    assert any(name == "rl_insight_collector_build_info" for name, _ in samples)
