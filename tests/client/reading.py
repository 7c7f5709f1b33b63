"""Reports without a server, built when a test says so."""

import gzip
import json
from typing import Any

from rl_insight.client import client
from rl_insight.report import Reporter


class Reading:
    """What the client would send now, as the collector would read it."""

    def __init__(self) -> None:
        assert client.source is not None
        self.reporter = Reporter(client.source)

    def report(self, *, final: bool = False) -> dict[str, Any]:
        """The next report; there must be something to say."""
        report = self.reporter.build("rl_insight_monitor", final=final)
        assert report is not None
        content: dict[str, Any] = json.loads(gzip.decompress(report.body))
        return content

    def reports(self, *, final: bool = False) -> list[dict[str, Any]]:
        """The next report and those that follow it at once."""
        found = []
        while True:
            report = self.reporter.build("rl_insight_monitor", final=final)
            assert report is not None
            found.append(json.loads(gzip.decompress(report.body)))
            if not report.more:
                return found


def series(reports: list[dict[str, Any]]) -> dict[tuple[str, tuple[tuple[str, str], ...]], list[Any]]:
    """What follows the labels of each series, by name and labels; the last report's stands."""
    return {
        (family["name"], tuple(sorted(labels.items()))): value
        for report in reports
        for family in report["metrics"]
        for labels, *value in family["series"]
    }
