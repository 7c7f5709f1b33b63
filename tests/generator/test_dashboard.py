"""Building a dashboard: ids that last, bytes that repeat, errors that say where."""

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from generator.dashboard import Annotation, Dashboard, Section, stable_id
from generator.errors import BuildError
from generator.fields import PanelLink, WebLink
from generator.panel import Panel
from generator.panels import gauge, stat, text, timeseries
from generator.queries import Query, reference
from generator.render import to_bytes
from generator.variables import Variable

DATASOURCE = Variable("datasource", "Prometheus", "prometheus", kind="datasource")
PROJECT = Variable("project", "Project", "label_values(up, project)", multi=True, all_value=".*")


def graph(title: str, **more: Any) -> Panel:
    return timeseries(title, Query("up"), description="d", unit="none", **more)


def board(*sections: Section, **more: Any) -> Dashboard:
    return Dashboard(
        name="demo", description="d", sections=sections, variables=more.pop("variables", (DATASOURCE,)), **more
    )


def ids(built: dict[str, Any]) -> dict[str, int]:
    panels = [inside for outer in built["panels"] for inside in (outer, *outer.get("panels", ()))]
    return {panel["title"]: panel["id"] for panel in panels}


def test_ids_stay_when_panels_and_sections_are_added_before() -> None:
    before = ids(board(Section("A", [graph("one")]), Section("B", [graph("two")])).build())
    after = ids(
        board(
            Section("New", [graph("zero")]), Section("A", [graph("half"), graph("one")]), Section("B", [graph("two")])
        ).build()
    )
    assert {title: after[title] for title in before} == before


def test_one_title_in_two_sections_has_two_ids() -> None:
    built = board(Section("A", [graph("same")]), Section("B", [graph("same")])).build()
    numbers = [panel["id"] for row in built["panels"] for panel in row["panels"]]
    assert len(set(numbers)) == 2


def test_a_shared_section_has_the_same_ids_on_every_dashboard() -> None:
    section = Section("A", [graph("one")])
    other = replace(board(section), name="other")
    assert ids(board(section).build()) == ids(other.build())


def test_bytes_repeat_in_another_process_with_another_hash_seed() -> None:
    script = (
        "import sys; from dashboards_src.dashboards import FOLDER; from generator.sources import discover;"
        "from generator.render import to_bytes;"
        "[sys.stdout.buffer.write(to_bytes(source.build())) for source in discover(FOLDER)]"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert outputs[0].stdout
    assert outputs[0].stdout == outputs[1].stdout


def test_the_bytes_are_json_with_a_newline_at_the_end() -> None:
    written = to_bytes(board(Section("Übersicht", [graph("→")])).build())
    assert json.loads(written)["panels"][0]["title"] == "Übersicht"
    assert written.endswith(b"}\n")


def test_a_collapsed_section_holds_its_panels_and_takes_one_line() -> None:
    built = board(Section("A", [graph("one"), graph("two")]), Section("B", [graph("three")])).build()
    assert [(row["title"], row["gridPos"]["y"], len(row["panels"])) for row in built["panels"]] == [
        ("A", 0, 2),
        ("B", 1, 1),
    ]


def test_an_open_section_is_followed_by_its_panels() -> None:
    built = board(Section("A", [graph("one", height=5)], collapsed=False), Section("B", [graph("two")])).build()
    assert [(panel["title"], panel["gridPos"]["y"]) for panel in built["panels"]] == [("A", 0), ("one", 1), ("B", 6)]


def test_what_grafanalib_writes_of_2018_is_gone() -> None:
    built = board(
        Section("A", [graph("one"), stat("two", Query("up"), description="d", unit="none"), text("three", "words")])
    ).build()
    assert built["schemaVersion"] >= 38
    assert not {"rows", "style", "gnetId", "hideControls", "sharedCrosshair", "__inputs"} & set(built)
    for panel in built["panels"][0]["panels"]:
        assert not {"span", "minSpan", "height", "cacheTimeout", "maxDataPoints", "editable"} & set(panel)
        for target in panel.get("targets", ()):
            assert target["refId"]
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert not {"intervalFactor", "step", "metric", "target"} & set(target)
        steps = panel.get("fieldConfig", {}).get("defaults", {}).get("thresholds", {}).get("steps")
        assert steps is None or steps[0]["value"] is None


def test_a_link_leads_to_the_panel_it_names_with_time_and_variables() -> None:
    linked = gauge("tile", Query("up"), description="d", unit="none", links=[PanelLink("B", "why")])
    built = board(Section("A", [linked]), Section("B", [graph("why")]), variables=(DATASOURCE, PROJECT)).build()
    url = built["panels"][0]["panels"][0]["fieldConfig"]["defaults"]["links"][0]["url"]
    assert url == (
        f"/d/demo?viewPanel={stable_id('B', 'why')}&${{__url_time_range}}"
        "&${datasource:queryparam}&${project:queryparam}"
    )


def test_a_tiles_link_adds_to_what_else_it_was_told_and_a_graphs_stands_at_its_title() -> None:
    docs = WebLink("docs", "https://x.example")
    tile = stat("t", Query("up"), description="d", unit="s", decimals=2, links=[docs])
    built = board(Section("A", [tile, graph("g", links=[docs])])).build()["panels"][0]["panels"]
    expected = [{"title": "docs", "url": "https://x.example", "targetBlank": True}]
    defaults = built[0]["fieldConfig"]["defaults"]
    assert (defaults["decimals"], defaults["unit"], defaults["links"]) == (2, "s", expected)
    assert built[1]["links"] == expected


def test_an_annotation_is_shown_on_the_panels_it_names() -> None:
    marks = Annotation("steps", "up", "step", panels=[("A", "one")])
    built = board(Section("A", [graph("one")]), annotations=(marks,)).build()
    assert built["annotations"]["list"][0]["filter"]["ids"] == [stable_id("A", "one")]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ([Section("A", [graph("one"), graph("one")])], ["demo", "'A'", "'one'", "another panel"]),
        ([Section("A", [graph("")])], ["demo", "'A'", "no title"]),
        ([Section("A", [graph("one", width=25)])], ["demo", "'A'", "'one'", "25 wide"]),
        ([Section("A", [graph("one", links=[PanelLink("A", "gone")])])], ["demo", "'A'", "'one'", "'gone'", "lacks"]),
        ([Section("A", []), Section("A", [])], ["demo", "'A'", "same id"]),
    ],
)
def test_an_error_names_dashboard_section_and_panel(sections: list[Section], words: list[str]) -> None:
    with pytest.raises(BuildError) as raised:
        board(*sections).build()
    for word in words:
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_variable_declared_twice_must_be_the_same() -> None:
    twice = Section("A", [], variables=[replace(PROJECT, label="Other")])
    with pytest.raises(BuildError, match="'project' is declared twice"):
        board(twice, variables=(DATASOURCE, PROJECT)).build()
    assert len(board(Section("A", [], variables=[PROJECT]), variables=(PROJECT,)).all_variables()) == 1


@pytest.mark.parametrize("name", ["", "x" * 41])
def test_a_name_that_cannot_be_a_uid_is_refused(name: str) -> None:
    with pytest.raises(BuildError, match="40 characters"):
        replace(board(), name=name).build()


def test_queries_are_lettered_as_in_a_spreadsheet() -> None:
    assert [reference(position) for position in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]
