"""The metric catalog holds what its users rely on, and docs/metrics.md says what the catalog says."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dashboards_src.catalog import (
    BY_KEY,
    BY_NAME,
    TRAINER_METRICS,
    VALIDATION_FAMILIES,
    VALIDATION_STATISTICS,
    Healthy,
    Metric,
    ValidationFamily,
    index,
)
from dashboards_src.catalog.document import PATH, main, render_markdown

ROOT = Path(__file__).parents[1]
LOGGED = Path(__file__).parent / "data" / "verl_metrics.tsv"

GRAFANA_UNITS = {"none", "short", "sci", "percentunit", "s", "ms", "gbytes"}

every_metric = pytest.mark.parametrize("metric", TRAINER_METRICS, ids=lambda metric: metric.key)
every_healthy = pytest.mark.parametrize(
    ("metric", "healthy"),
    [pytest.param(metric, metric.healthy, id=metric.key) for metric in TRAINER_METRICS if metric.healthy],
)


def logged_names() -> Iterator[str]:
    for line in LOGGED.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line


@every_metric
def test_everything_is_said(metric: Metric) -> None:
    assert metric.title.strip()
    assert metric.unit.strip()
    assert metric.meaning.strip()
    assert metric.source.startswith("verl ")
    assert metric.better in ("higher", "lower", "neither")


@every_metric
def test_unit_is_grafanas(metric: Metric) -> None:
    assert metric.unit in GRAFANA_UNITS or metric.unit.startswith("suffix:")


@every_metric
def test_title_fits_a_panel(metric: Metric) -> None:
    assert len(metric.title) <= 50


@every_metric
def test_meaning_is_sentences(metric: Metric) -> None:
    assert metric.meaning.endswith(".")
    assert "  " not in metric.meaning


@every_metric
def test_name_is_a_prometheus_name(metric: Metric) -> None:
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", metric.name)


@pytest.mark.parametrize("what", ["key", "name", "title"])
def test_no_two_metrics_share(what: str) -> None:
    values = [getattr(metric, what) for metric in TRAINER_METRICS]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("name", sorted(logged_names()))
def test_what_verl_logs_is_explained(name: str) -> None:
    assert name in BY_NAME


def test_lookup_by_key_and_by_name_agree() -> None:
    assert set(BY_KEY.values()) == set(BY_NAME.values()) == set(TRAINER_METRICS)
    assert BY_KEY["actor/grad_norm"] is BY_NAME["rl_insight_monitor_actor_grad_norm"]


def test_a_metric_listed_twice_is_refused() -> None:
    metric = TRAINER_METRICS[0]
    with pytest.raises(ValueError, match=f"{metric.key!r} twice"):
        index([metric, metric], lambda each: each.key)


def test_keys_that_differ_only_in_punctuation_are_refused() -> None:
    metric = BY_KEY["actor/lr"]
    with pytest.raises(ValueError, match="'actor/lr' and 'actor_lr'"):
        index([metric, replace(metric, key="actor_lr")], lambda each: each.name)


@every_healthy
def test_healthy_range_says_where_it_comes_from(metric: Metric, healthy: Healthy) -> None:
    assert healthy.source.startswith("verl "), metric.key
    limits = (*(healthy.above or ()), *(healthy.below or ()))
    assert any(limit is not None for limit in limits), metric.key


@every_healthy
def test_warning_comes_before_critical(metric: Metric, healthy: Healthy) -> None:
    for limits, direction in ((healthy.above, 1), (healthy.below, -1)):
        warning, critical = limits or (None, None)
        if warning is not None and critical is not None:
            assert warning * direction < critical * direction, metric.key


@every_healthy
def test_healthy_range_is_not_empty(metric: Metric, healthy: Healthy) -> None:
    highest = min((limit for limit in healthy.above or () if limit is not None), default=float("inf"))
    lowest = max((limit for limit in healthy.below or () if limit is not None), default=float("-inf"))
    assert lowest < highest, metric.key


@every_healthy
def test_unhealthy_side_is_not_the_better_one(metric: Metric, healthy: Healthy) -> None:
    assert not (metric.better == "higher" and healthy.above), metric.key
    assert not (metric.better == "lower" and healthy.below), metric.key


def test_rollout_probability_gap_has_the_faqs_limits() -> None:
    healthy = BY_KEY["training/rollout_probs_diff_mean"].healthy
    assert healthy is not None
    assert healthy.above == (0.005, 0.01)


@pytest.mark.parametrize("family", VALIDATION_FAMILIES, ids=lambda family: family.title)
def test_validation_family_matches_its_example(family: ValidationFamily) -> None:
    assert re.fullmatch(family.name_pattern, replace(TRAINER_METRICS[0], key=family.example).name)


def test_validation_families_hold_the_fixed_validation_metrics() -> None:
    for metric in TRAINER_METRICS:
        is_validation = metric.key.startswith("val-")
        matches = any(re.fullmatch(family.name_pattern, metric.name) for family in VALIDATION_FAMILIES)
        assert matches == is_validation, metric.key


def test_document_is_up_to_date() -> None:
    written = (ROOT / PATH).read_text(encoding="utf-8")
    assert written == render_markdown(), "docs/metrics.md is out of date: run `make docs` and commit the result."


def test_document_names_everything() -> None:
    page = render_markdown()
    for metric in TRAINER_METRICS:
        assert f"| `{metric.key}` | `{metric.name}` |" in page
    for family in VALIDATION_FAMILIES:
        assert f"`{family.example}`" in page
    for statistic in VALIDATION_STATISTICS:
        assert f"`{statistic.pattern}`" in page


def test_document_tables_are_whole() -> None:
    columns = None
    for line in render_markdown().splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        assert columns is None or cells is None or cells == columns, line
        columns = cells


def test_document_is_written_under_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main()
    assert (tmp_path / "docs" / "metrics.md").read_text(encoding="utf-8") == render_markdown()
