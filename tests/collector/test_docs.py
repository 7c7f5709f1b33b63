"""docs/collector.md against the code."""

import re

from collector.run import FLAGS
from collector.settings import ABOUT, Settings
from collector.telemetry import Telemetry

from .harness import ROOT, LocalCollector

PAGE = (ROOT / "docs" / "collector.md").read_text()


def settings_table() -> list[str]:
    """The table's lines as they must be."""
    lines = []
    for name, about in ABOUT.items():
        value = getattr(Settings(), name)
        shown = {None: "null", "": "empty", (): "none"}.get(value, str(value))
        flag = f" Flag `--{name.replace('_', '-')}`." if name in FLAGS else ""
        choices = f" One of {', '.join(about.choices)}." if about.choices else ""
        lines.append(f"| `{name}` | {shown} | {about.says}{choices}{flag} |")
    return lines


def test_the_table_of_settings_is_current() -> None:
    for line in settings_table():
        assert line in PAGE.splitlines(), f"docs/collector.md lacks the line\n{line}"


def test_every_metric_of_our_own_is_in_the_page() -> None:
    names = {family.name for family in Telemetry().registry.collect()}
    told = PAGE.replace("`…_", "`rl_insight_collector_")
    for name in names:
        short = re.sub(r"_process_.*", "_process_", name.removesuffix("_total"))
        assert short in told, f"docs/collector.md does not name {name}"


def test_every_call_is_in_the_page(collector: LocalCollector) -> None:
    routes = [route for route in collector.service.app.router.routes if getattr(route, "methods", None)]
    assert len(routes) == 9
    for route in routes:
        path = getattr(route, "path", "")
        assert path in PAGE
