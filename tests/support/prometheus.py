"""A real Prometheus server for tests, on loopback, over data that was loaded beforehand."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

Result = list[dict[str, Any]]

_CONFIG = "global:\n  scrape_interval: 15s\n"
_START_SECONDS = 60.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class PrometheusServer:
    """`with PrometheusServer(tsdb, work) as server:` runs the server until the block ends."""

    def __init__(self, tsdb: Path, work: Path, config: str = _CONFIG) -> None:
        """`tsdb` is the data directory, `work` a directory for its configuration and log."""
        self._tsdb = tsdb
        self._log = work / "prometheus.log"
        self._config = work / "prometheus.yml"
        self._config.write_text(config)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{_free_port()}"

    def __enter__(self) -> "PrometheusServer":
        binary = binary_path("prometheus")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    binary,
                    f"--config.file={self._config}",
                    f"--storage.tsdb.path={self._tsdb}",
                    "--storage.tsdb.retention.time=100y",
                    f"--web.listen-address={self.url.removeprefix('http://')}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def query(self, expr: str, time: float) -> Result:
        """The result of an instant query. AssertionError with Prometheus's own words if it is refused."""
        return self._result("query", {"query": expr, "time": str(time)})

    def query_range(self, expr: str, start: float, end: float, step: float) -> Result:
        bounds = {"start": str(start), "end": str(end), "step": str(step)}
        return self._result("query_range", {"query": expr, **bounds})

    def _result(self, call: str, parameters: dict[str, str]) -> Result:
        body = urllib.parse.urlencode(parameters).encode()
        try:
            with _OPENER.open(f"{self.url}/api/v1/{call}", body, timeout=60) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")
            raise AssertionError(f"{parameters['query']}\n{_reason(said)}") from None
        result: Result = answer["data"]["result"]
        return result

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                break
            try:
                with _OPENER.open(f"{self.url}/-/ready", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"Prometheus did not start:\n{self._log.read_text(errors='replace')[-2000:]}")

    def _stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def binary_path(name: str) -> str:
    """Where `prometheus` or `promtool` is."""
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed: install Debian's package prometheus")
    return found


def _reason(said: str) -> str:
    try:
        return str(json.loads(said)["error"])
    except (ValueError, KeyError, TypeError):
        return said


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
