"""Where settings come from, and what is said of those that cannot be used."""

import subprocess
import sys
from pathlib import Path

import pytest

from collector.config import load
from collector.errors import ConfigError
from collector.settings import ABOUT, Settings

from .harness import ROOT, environment


def test_the_defaults_are_those_of_the_settings() -> None:
    loaded = load()
    assert loaded.settings.port == Settings().port == 18080
    assert loaded.settings.data_dir == Path("~/.rl-insight/data/collector").expanduser()
    assert set(loaded.origins.values()) == {"default"}


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("# ours\nport: 1\nhost: a\nlog_level: error\ngrafana_port: null\ntarget_networks: [10.0.0.0/8]\n")
    variables = {
        "RL_INSIGHT_COLLECTOR_PORT": "2",
        "RL_INSIGHT_COLLECTOR_HOST": "b",
        "RL_INSIGHT_TOKEN": "t",
        "PATH": "/",
    }
    loaded = load(file, variables, {"port": "3", "otlp_endpoint": None})
    settings = loaded.settings
    assert (settings.port, settings.host, settings.log_level, settings.token) == (3, "b", "error", "t")
    assert (settings.grafana_port, settings.target_networks) == (None, ("10.0.0.0/8",))
    assert loaded.origins["port"] == "flag --port"
    assert loaded.origins["host"] == "environment RL_INSIGHT_COLLECTOR_HOST"
    assert loaded.origins["log_level"] == f"{file}:4"
    assert loaded.origins["otlp_endpoint"] == "default"


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("port: 7\n")
    assert load(None, {"RL_INSIGHT_COLLECTOR_CONFIG": str(file)}).settings.port == 7
    file.write_text("")
    assert load(file).settings.port == 18080


@pytest.mark.parametrize("off", ["", "null", "off", "None"])
def test_a_port_can_be_off(off: str) -> None:
    assert load(None, {"RL_INSIGHT_COLLECTOR_PROMETHEUS_PORT": off}).settings.prometheus_port is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("host: a\nprot: 1\n", "{file}:2: there is no setting 'prot'"),
        ("port: many\n", "{file}:1: port must be a whole number, not 'many'"),
        ("port: [1]\n", "{file}:1: port must be a whole number"),
        ("port: {a: 1}\n", "{file}:1: port must be a plain value"),
        ("port: null\n", "{file}:1: port must be a whole number"),
        ("port: 70000\n", "{file}:1: port must be at most 65535"),
        ("hold_seconds: nan\n", "{file}:1: hold_seconds must be at least 0"),
        ("log_format: xml\n", "{file}:1: log_format must be one of logfmt, json"),
        ("target_networks: [10.0.0.1/8]\n", "{file}:1: target_networks must be networks"),
        ("token: [s3cret]\n", "{file}:1: token must be text, not what is given"),
        ("otlp_endpoint: tempo:4318\n", "{file}:1: otlp_endpoint must begin with http://"),
        ("port: 1\nport: 2\n", "{file}:2: port is set twice"),
        ("port: 1: 2\n", "{file} is not YAML"),
        ("- port\n", "{file} must hold"),
    ],
)
def test_a_wrong_file_is_said_with_key_and_line(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError) as raised:
        load(file)
    assert says.format(file=file) in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_wrong_variable_or_flag_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="RL_INSIGHT_COLLECTOR_PROT"):
        load(None, {"RL_INSIGHT_COLLECTOR_PROT": "1"})
    with pytest.raises(ConfigError, match="environment RL_INSIGHT_COLLECTOR_PORT: port must be"):
        load(None, {"RL_INSIGHT_COLLECTOR_PORT": "x"})
    with pytest.raises(ConfigError, match="flag --port: port must be"):
        load(None, {}, {"port": "x"})
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.yaml")


def _run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "collector", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**environment(), **variables}, capture_output=True, text=True, timeout=60, check=False
    )


def test_print_config_shows_values_and_origins_but_no_token() -> None:
    done = _run("--print-config", "--port", "5", RL_INSIGHT_TOKEN="s3cret")
    assert done.returncode == 0
    assert "port: 5  # flag --port" in done.stdout
    assert "token: (set, not shown)  # environment RL_INSIGHT_TOKEN" in done.stdout
    assert "host: 127.0.0.1  # default" in done.stdout
    assert len(done.stdout.splitlines()) == len(ABOUT)
    assert "s3cret" not in done.stdout + done.stderr


def test_wrong_settings_exit_with_2_and_one_sentence(tmp_path: Path) -> None:
    done = _run("--port", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "collector: flag --port: port must be a whole number, not 'x'.\n"


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = _run("--port", port, "--data-dir", str(tmp_path), "--otlp-endpoint", "")
    assert done.returncode == 2
    assert f"Cannot listen on 127.0.0.1 port {port}" in done.stderr
