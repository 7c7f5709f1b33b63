"""Fixtures that several test modules share."""

import hashlib
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support import history as simulated
from tests.support.history import Run
from tests.support.prometheus import PrometheusServer

ROOT = Path(__file__).parents[1]

# Grafana's schema is published as a package for Python 3.11 and newer only.
collect_ignore = [] if sys.version_info >= (3, 11) else ["dashboards/test_schema.py"]


@dataclass(frozen=True, slots=True)
class History:
    """A running Prometheus that holds the simulated hour, and what is in it."""

    server: PrometheusServer
    START: int = simulated.START
    END: int = simulated.END
    STEP: int = simulated.STEP
    RUNS: tuple[Run, ...] = simulated.RUNS
    VLLM_SYNC: Run = simulated.VLLM_SYNC
    SGLANG_SYNC: Run = simulated.SGLANG_SYNC
    ASYNC: Run = simulated.ASYNC
    OLD_VLLM: Run = simulated.OLD_VLLM
    OLD_SGLANG: Run = simulated.OLD_SGLANG
    NAMESAKE: Run = simulated.NAMESAKE
    DEMO: Mapping[str, str] = field(default_factory=lambda: simulated.DEMO)


@pytest.fixture(scope="session")
def history(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    work = tmp_path_factory.mktemp("prometheus")
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    kept = _loaded(cache.mkdir("history") if cache else tmp_path_factory.mktemp("history"))
    shutil.copytree(kept, work / "tsdb")
    with PrometheusServer(work / "tsdb", work) as server:
        yield History(server)


def _loaded(keep: Path) -> Path:
    """A Prometheus data directory with the history, kept until its sources change: it takes seconds to make."""
    target = keep / _digest()
    if not target.is_dir():
        shutil.rmtree(keep)
        making = keep / "making"
        simulated.write(making)
        simulated.load(making).rename(target)
        shutil.rmtree(making)
    return target


def _digest() -> str:
    """Of all that the history is made from."""
    tests, catalog = ROOT / "tests", ROOT / "dashboards_src" / "catalog"
    sources = [*(tests / "support").glob("*.py"), *(tests / "data").glob("*.tsv"), *catalog.glob("*.tsv")]
    digest = hashlib.sha256()
    for path in sorted([*sources, catalog / "exposed.py"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
