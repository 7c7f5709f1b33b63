"""Fixtures of the collector's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .harness import LocalCollector


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[LocalCollector]:
    with LocalCollector(tmp_path) as running:
        yield running
