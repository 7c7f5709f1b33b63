"""Thresholds and mappings: the colours that people judge a run by."""

import pytest

from generator.fields import GREEN, ORANGE, RED, Threshold, color_by_regex, limits, override


def color_at(steps: tuple[Threshold, ...], value: float) -> str:
    """The colour that Grafana gives a value: that of the last step at or below it."""
    return [step.color for step in steps if step.value is None or value >= step.value][-1]


@pytest.mark.parametrize(
    ("value", "color"), [(-1, GREEN), (0.0049, GREEN), (0.005, ORANGE), (0.0099, ORANGE), (0.01, RED), (5, RED)]
)
def test_above(value: float, color: str) -> None:
    assert color_at(limits(above=(0.005, 0.01)), value) == color


@pytest.mark.parametrize(("value", "color"), [(0.5, RED), (0.9, ORANGE), (0.94, ORANGE), (0.95, GREEN), (1, GREEN)])
def test_below(value: float, color: str) -> None:
    assert color_at(limits(below=(0.95, 0.9)), value) == color


@pytest.mark.parametrize(("value", "color"), [(-0.2, ORANGE), (0, GREEN), (0.1, ORANGE), (0.3, RED)])
def test_both_sides(value: float, color: str) -> None:
    assert color_at(limits(above=(0.1, 0.2), below=(-0.1, None)), value) == color


@pytest.mark.parametrize(
    "steps",
    [
        limits(),
        limits(above=(1, 2)),
        limits(above=(None, 2)),
        limits(below=(2, 1)),
        limits(below=(None, 1)),
        limits(above=(3, 4), below=(2, 1)),
    ],
)
def test_the_first_step_is_open_and_the_rest_rise(steps: tuple[Threshold, ...]) -> None:
    values = [step.value for step in steps]
    assert values[0] is None
    numbers = [value for value in values[1:] if value is not None]
    assert len(numbers) == len(values) - 1
    assert numbers == sorted(numbers)


def test_of_regexes_the_first_one_has_the_lowest_index() -> None:
    mappings = color_by_regex([("ref_.*", "purple"), (".*", "blue")])
    assert [each["options"]["result"]["index"] for each in mappings] == [0, 1]


def test_an_overrides_property_names_the_nested_field() -> None:
    assert override("^p99", custom__lineWidth=2)["properties"] == [{"id": "custom.lineWidth", "value": 2}]
