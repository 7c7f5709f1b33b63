"""What every dashboard of ours promises a reader, whatever it shows."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards_src.catalog import BY_KEY, TRAINER_METRICS
from dashboards_src.dashboards import FOLDER
from dashboards_src.scalars import described, range_text, thresholds
from dashboards_src.sections.other import any_of
from dashboards_src.states import COLORS, state_mappings, state_overrides
from generator.fields import RED
from generator.sources import discover
from tests.dashboards.queries import asked, built

NAMES = [source.name for source in discover(FOLDER)]
TRAINERS = [name for name in NAMES if name.startswith("verl_trainer")]
FIRST_SCREEN_QUERIES = 15
SPREAD = ": spread over replicas"


def panels(dashboard: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for outer in dashboard["panels"]:
        yield from (panel for panel in (outer, *outer.get("panels", ())) if panel["type"] != "row")


def first_screen(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def test_the_dashboards_have_the_names_that_verls_documentation_gives() -> None:
    assert NAMES == ["quick_start_demo", "verl_trainer_v1_with_sglang_engine", "verl_trainer_v1_with_vllm_engine"]


@pytest.mark.parametrize("name", NAMES)
def test_uid_title_and_file_are_one_name(name: str) -> None:
    dashboard = built(name)
    assert dashboard["uid"] == dashboard["title"] == name


@pytest.mark.parametrize("name", NAMES)
def test_the_first_row_is_open_and_all_others_are_closed(name: str) -> None:
    rows = [panel for panel in built(name)["panels"] if panel["type"] == "row"]
    assert [row["collapsed"] for row in rows] == [False] + [True] * (len(rows) - 1)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_costs_at_most_fifteen_queries_with_annotations(name: str) -> None:
    dashboard = built(name)
    queries = sum(len(panel.get("targets", ())) for panel in first_screen(dashboard))
    assert queries + len(dashboard["annotations"]["list"]) <= FIRST_SCREEN_QUERIES


@pytest.mark.parametrize("name", TRAINERS)
def test_the_first_screen_answers_whether_the_run_is_healthy(name: str) -> None:
    assert [panel["title"] for panel in first_screen(built(name))] == [
        "Training step",
        "Since the last step",
        "Reward",
        "Throughput per GPU",
        "Time per step",
        "Rollout precision",
        "KV cache in use",
        "Requests waiting",
        "TransferQueue backlog",
        "Scrape targets down",
        "Alerts firing",
        "Share of lanes in each state",
        "Where a step's time goes",
    ]


@pytest.mark.parametrize("name", TRAINERS)
def test_each_panel_of_the_first_screen_leads_to_the_one_that_explains_it(name: str) -> None:
    dashboard = built(name)
    ids = {panel["id"] for panel in panels(dashboard)} - {panel["id"] for panel in first_screen(dashboard)}
    for panel in first_screen(dashboard):
        links = panel.get("links") or panel["fieldConfig"]["defaults"]["links"]
        for link in links:
            found = re.fullmatch(rf"/d/{name}\?viewPanel=(\d+)&\$\{{__url_time_range\}}&(.+)", link["url"])
            assert found, link["url"]
            assert int(found[1]) in ids
            assert "${project:queryparam}&${experiment_name:queryparam}" in found[2]


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_says_what_it_means(name: str) -> None:
    for panel in panels(built(name)):
        assert panel["title"][0].isupper() or panel["title"].startswith("$")
        if panel["type"] != "text":
            assert len(panel["description"]) > 40, panel["title"]
            assert panel["description"].rstrip("`").endswith("."), panel["title"]
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


@pytest.mark.parametrize("name", NAMES)
def test_every_query_goes_through_a_data_source_variable(name: str) -> None:
    for panel in panels(built(name)):
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] in {"${datasource}", "${tempo}"}
            assert target["datasource"] == panel["datasource"]


@pytest.mark.parametrize("name", TRAINERS)
def test_the_precision_panel_has_bands_at_the_faqs_limits(name: str) -> None:
    panel = next(p for p in panels(built(name)) if p["title"] == "Gap of token probabilities, rollout to trainer")
    defaults = panel["fieldConfig"]["defaults"]
    assert [step["value"] for step in defaults["thresholds"]["steps"]] == [None, 0.005, 0.01]
    assert defaults["custom"]["thresholdsStyle"]["mode"] == "line+area"
    assert "disable_cascade_attn" in panel["description"]


@pytest.mark.parametrize("name", TRAINERS)
def test_the_precision_verdict_has_a_word_for_every_value(name: str) -> None:
    panel = next(p for p in panels(built(name)) if p["title"] == "Rollout precision")
    ranges = [m["options"] for m in panel["fieldConfig"]["defaults"]["mappings"] if m["type"] == "range"]
    assert [(r["from"], r["to"], r["result"]["text"]) for r in ranges] == [
        (0, 0.005, "normal"),
        (0.005, 0.01, "suspect"),
        (0.01, None, "abnormal"),
    ]
    exact = next(m["options"] for m in panel["fieldConfig"]["defaults"]["mappings"] if m["type"] == "value")
    assert exact["-1"]["text"] == "not measured"


@pytest.mark.parametrize("name", TRAINERS)
def test_every_signal_of_the_engine_is_shown_together_spread_and_by_name(name: str) -> None:
    titles = [panel["title"] for panel in panels(built(name))]
    signals = [title.removesuffix(SPREAD) for title in titles if title.endswith(SPREAD)]
    assert len(signals) >= 14
    for signal in signals:
        assert signal in titles
        assert {f"{signal}: highest", f"{signal}: lowest"} & set(titles)


@pytest.mark.parametrize("name", TRAINERS)
def test_one_replica_is_shown_in_full_at_first(name: str) -> None:
    dashboard = built(name)
    row = next(panel for panel in dashboard["panels"] if panel.get("repeat"))
    variable = next(each for each in dashboard["templating"]["list"] if each["name"] == row["repeat"])
    assert row["collapsed"]
    assert variable["multi"]
    assert not variable["includeAll"], "All would open as many rows as there are replicas"


@given(st.sets(st.from_regex(r"[a-z]{1,3}(_[a-z]{1,3}){0,3}", fullmatch=True), min_size=1, max_size=12))
def test_names_written_together_match_themselves_and_no_others(names: set[str]) -> None:
    pattern = re.compile(any_of(names))
    assert all(pattern.fullmatch(name) for name in names)
    others = {f"{name}x" for name in names} | {name[:-1] for name in names} | {f"{name}_y" for name in names}
    assert not [other for other in others - names if pattern.fullmatch(other)]


@pytest.mark.parametrize("name", TRAINERS)
def test_the_tile_of_waiting_requests_leads_to_the_panel_of_waiting_requests(name: str) -> None:
    dashboard = built(name)
    tile = next(p for p in first_screen(dashboard) if p["title"] == "Requests waiting")
    link = tile["fieldConfig"]["defaults"]["links"][0]["url"]
    linked = next(panel["title"] for panel in panels(dashboard) if f"viewPanel={panel['id']}&" in link)
    assert linked in {"Waiting requests", "Queued requests"}


@pytest.mark.parametrize("name", TRAINERS)
def test_every_trainer_metric_of_the_catalog_is_shown_or_falls_to_the_last_row(name: str) -> None:
    dashboard = built(name)
    rest = next(query.expr for query in asked(dashboard) if query.panel == "Metrics that no panel lists")
    excluded = re.compile(re.findall(r'__name__!~"([^"]+)"', rest)[0])
    shown = [query.expr for query in asked(dashboard) if not query.section.startswith("Everything else")]
    words = {word for expr in shown for word in re.findall(r"\w+", expr)}
    patterns = [re.compile(p) for expr in shown for p in re.findall(r'__name__=~"([^"]+)"', expr)]
    for metric in TRAINER_METRICS:
        is_shown = metric.name in words or any(pattern.fullmatch(metric.name) for pattern in patterns)
        assert is_shown == bool(excluded.fullmatch(metric.name)), metric.name
    assert not excluded.fullmatch("rl_insight_monitor_my_custom_reward")
    assert not excluded.fullmatch("rl_insight_monitor_actor_entropy_of_mine")


def color_of(state: str, pairs: Any) -> str:
    return next(color for pattern, color in pairs if re.search(pattern, state))


@pytest.mark.parametrize(
    "state",
    [
        "vllm_generate",
        "sglang_generate",
        "actor_compute_log_prob",
        "ref_compute_log_prob",
        "actor_update",
        "train_batch",
        "forward_backward",
    ],
)
def test_a_state_has_one_colour_in_timelines_and_in_graphs(state: str) -> None:
    in_timelines = color_of(state, state_mappings())
    last_that_matches = [
        override["properties"][0]["value"]["fixedColor"]
        for override in state_overrides()
        if re.search(override["matcher"]["options"].strip("/"), f"{state} a_run")
    ][-1]
    assert in_timelines == last_that_matches


def test_states_that_differ_have_colours_that_differ() -> None:
    colors = [color for _, color in COLORS]
    assert len(set(colors)) == len(colors)


def test_a_healthy_range_is_said_in_words_and_in_colours() -> None:
    diff = BY_KEY["training/rollout_probs_diff_mean"]
    assert diff.healthy
    assert range_text(diff.healthy) == "below 0.005, critical above 0.01"
    assert "Healthy: below 0.005, critical above 0.01." in described(diff)
    assert thresholds(diff.healthy)[-1].color == RED


@pytest.mark.parametrize("name", NAMES)
def test_one_run_is_chosen_at_first(name: str) -> None:
    """Stacked bands of several runs would pass for one run's."""
    variables = {each["name"]: each for each in built(name)["templating"]["list"]}
    for label in ("project", "experiment_name"):
        assert variables[label]["multi"]
        assert not variables[label]["includeAll"]
        assert variables[label]["current"] == {}
