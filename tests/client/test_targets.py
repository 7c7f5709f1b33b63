"""Scrape targets: which addresses and labels are taken."""

from typing import Any

import pytest

from rl_insight import update_prometheus_config
from rl_insight.client import client
from tests.client.reading import Reading


def registered() -> dict[str, dict[str, dict[str, str]]]:
    """Labels by job and target."""
    return {
        job["job_name"]: {target["target"]: target["labels"] for target in job["targets"]}
        for job in Reading().report()["targets"]
    }


def dropped() -> dict[str, int]:
    assert client.source is not None
    return client.source.dropped.totals()


@pytest.mark.parametrize(
    "address", ["10.0.0.1:8000", "gpu-7.cluster.local:1", "node_1:65535", "[::1]:80", "[2001:db8::10.0.0.1]:9100"]
)
def test_addresses(address: str) -> None:
    update_prometheus_config([address])
    assert registered() == {"trainer_metrics": {address: {}}}


@pytest.mark.parametrize(
    "address",
    [
        "http://h:80",
        "h:80/metrics",
        "h",
        "h:",
        ":80",
        "h:0",
        "h:70000",
        "h:-1",
        "h:8e1",
        "h:٣",
        "::1:80",
        "[::1]",
        "[h]:80",
        "[fe80::1%eth0]:80",
        "user@h:80",
        "h h:80",
        "größe:80",
        "x" * 300 + ":80",
        "h:" + "9" * 10_000,
        "",
        None,
        80,
        ("h", 80),
    ],
)
def test_bad_addresses_are_dropped_and_the_others_stay(address: Any, caplog: pytest.LogCaptureFixture) -> None:
    update_prometheus_config([address, "good:1", address], "vllm")
    assert registered() == {"vllm": {"good:1": {}}}
    assert dropped() == {"bad_target": 2}
    assert len([message for message in caplog.messages if "host:port" in message and len(message) < 300]) == 1


def test_labels_may_be_given_for_each_or_for_all() -> None:
    update_prometheus_config(["a:1", "b:1"], "vllm", [{"replica": 0, "tp-rank": "x"}, None])
    update_prometheus_config(("c:1",), "sglang", {"replica": 1})
    update_prometheus_config("d:1", "transfer_queue")  # type: ignore[arg-type]
    assert registered() == {
        "vllm": {"a:1": {"replica": "0", "tp_rank": "x"}, "b:1": {}},
        "sglang": {"c:1": {"replica": "1"}},
        "transfer_queue": {"d:1": {}},
    }


@pytest.mark.parametrize("labels", [[{}], [{}, {}, {}], ["x", "y"], "xy", 5, [{}, 5]])
def test_labels_that_do_not_fit_drop_the_call(labels: Any) -> None:
    update_prometheus_config(["a:1", "b:1"], "vllm", labels)
    update_prometheus_config(["c:1"], "vllm")
    assert registered() == {"vllm": {"c:1": {}}}
    assert dropped() == {"bad_target": 1}


@pytest.mark.parametrize("job", ["", "a b", "x" * 129, 5])
def test_bad_job_names_drop_the_call(job: Any) -> None:
    update_prometheus_config(["a:1"], job)
    assert registered() == {}
    assert dropped() == {"bad_target": 1}


def test_reserved_labels_are_left_out() -> None:
    update_prometheus_config(["a:1"], "vllm", [{"job": "x", "instance": "y", "__address__": "z", "replica": 1}])
    assert registered() == {"vllm": {"a:1": {"replica": "1"}}}
    assert dropped() == {"reserved_label": 3}


@pytest.mark.parametrize("addresses", [None, 5])
def test_addresses_that_are_no_list(addresses: Any) -> None:
    update_prometheus_config(addresses, "vllm")
    assert registered() == {}


def test_registering_again_replaces_the_labels_and_is_told_only_if_it_changes_something() -> None:
    reading = Reading()
    update_prometheus_config(["a:1", "b:1"], "vllm", [{"replica": 0}, {"replica": 1}])
    assert len(reading.report()["targets"][0]["targets"]) == 2
    update_prometheus_config(["a:1"], "vllm", [{"replica": 0}])
    assert reading.reporter.build("ns", final=False) is None
    update_prometheus_config(["a:1"], "vllm", [{"replica": 7}])
    assert reading.report()["targets"][0]["targets"] == [
        {"target": "a:1", "labels": {"replica": "7"}},
        {"target": "b:1", "labels": {"replica": "1"}},
    ]


def test_targets_are_bounded() -> None:
    for number in range(100):
        labels = {f"label_{index}": "x" * 990 for index in range(30)}
        update_prometheus_config([f"host-{number}:1"], "vllm", labels)
    assert len(registered()["vllm"]) == 33
    assert dropped() == {"target_limit": 67}
