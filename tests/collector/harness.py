"""Collectors for tests: one within the test's process and on its clock, and one as a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from collector.service import Service
from collector.settings import Settings

from .asgi import Client
from .reports import Report, body

ROOT = Path(__file__).parents[2]
Labels = tuple[tuple[str, str], ...]
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_GZIP = {"Content-Encoding": "gzip", "Content-Type": "application/json"}


class LocalCollector:
    """A collector in this process; time passes for it only when the test says so."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.now = 1000.0
        self.settings = Settings(data_dir=folder, **{"otlp_endpoint": "", "stop_seconds": 0.2, **settings})
        self.service = Service(self.settings, clock=lambda: self.now, tick=False)
        self.client = Client(self.service.app)

    def __enter__(self) -> "LocalCollector":
        self.service.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.service.stop()

    def send(self, content: Report) -> tuple[int, dict[str, Any]]:
        """The status and the answer to a report."""
        return self.send_raw(body(content))

    def send_raw(self, content: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        answer = self.client.post("/api/v1/events", content=content, headers=_GZIP if headers is None else headers)
        return answer.status_code, answer.json()

    def accepted(self, content: Report) -> dict[str, Any]:
        """The answer to a report that must be accepted."""
        status, answer = self.send(content)
        assert status == 200, answer
        return answer

    def pass_time(self, seconds: float) -> None:
        while seconds > 0:
            self.now += min(seconds, 4.0)
            seconds -= 4.0
            self.service.writer.inbox.call(self.service.writer.tick).result()

    def samples(self, prefix: str = "") -> dict[tuple[str, Labels], float]:
        return parsed(self.client.get("/metrics").text, prefix)

    def value(self, sample: str, **labels: str) -> float | None:
        """The value of the sample with exactly these labels; None if there is none."""
        return self.samples().get((sample, tuple(sorted(labels.items()))))

    def own(self, name: str, **labels: str) -> float:
        """One of the collector's own metrics, by the end of its name; 0 if it is not there yet."""
        return self.value(f"rl_insight_collector_{name}", **labels) or 0.0


class CollectorProcess:
    """`python -m collector` as a process that can be killed and started again."""

    def __init__(self, folder: Path, port: int | None = None, **settings: Any) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "collector.log"
        settings = {"otlp_endpoint": "", "stop_seconds": 2, **settings}
        self._config = folder / "collector.yaml"
        self._config.write_text(json.dumps(settings))
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "CollectorProcess":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()

    def start(self) -> None:
        command = [sys.executable, "-m", "collector", "--config", str(self._config)]
        command += ["--port", str(self.port), "--data-dir", str(self.folder)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                self.get("/healthz")
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError(f"The collector did not start:\n{self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(20)

    def get(self, path: str, headers: dict[str, str] | None = None) -> str:
        request = urllib.request.Request(self.url + path, headers=headers or {})
        with _OPENER.open(request, timeout=30) as response:
            content: bytes = response.read()
        return content.decode()

    def send(self, content: Report) -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(f"{self.url}/api/v1/events", body(content), _GZIP)
        try:
            with _OPENER.open(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def samples(self, prefix: str = "") -> dict[tuple[str, Labels], float]:
        return parsed(self.get("/metrics"), prefix)


def parsed(page: str, prefix: str = "") -> dict[tuple[str, Labels], float]:
    """The samples of a page in Prometheus's text format by name and labels; none may be there twice."""
    found: dict[tuple[str, Labels], float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"{key} is there twice"
            if sample.name.startswith(prefix):
                found[key] = sample.value
    return found


def wait_until(true: Any, seconds: float = 20.0) -> None:
    """Waits until `true()` is; AssertionError if it does not come to be."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment() -> dict[str, str]:
    """This process's environment without settings of the collector."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RL_INSIGHT")}
