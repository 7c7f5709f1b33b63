"""Panels flow left to right and never lie on each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.layout import GRID_WIDTH, Place, flow


def cells(place: Place) -> set[tuple[int, int]]:
    return {(x, y) for x in range(place.x, place.x + place.w) for y in range(place.y, place.y + place.h)}


@given(st.lists(st.tuples(st.integers(1, 24), st.integers(1, 20)), max_size=40), st.integers(0, 100))
def test_no_two_panels_overlap_and_none_hangs_over(sizes: list[tuple[int, int]], top: int) -> None:
    taken: set[tuple[int, int]] = set()
    for (width, height), place in zip(sizes, flow(sizes, top), strict=True):
        assert (place.w, place.h) == (width, height)
        assert place.y >= top
        assert place.x + place.w <= GRID_WIDTH
        assert not taken & cells(place)
        taken |= cells(place)


@given(st.lists(st.tuples(st.integers(1, 24), st.integers(1, 20)), max_size=20))
def test_a_panel_added_at_the_end_moves_none(sizes: list[tuple[int, int]]) -> None:
    assert list(flow([*sizes, (6, 4)], 0))[: len(sizes)] == list(flow(sizes, 0))


def test_a_full_line_is_as_high_as_its_highest() -> None:
    places = list(flow([(12, 4), (12, 9), (6, 2)], 1))
    assert [(place.x, place.y) for place in places] == [(0, 1), (12, 1), (0, 10)]


@pytest.mark.parametrize("size", [(0, 4), (25, 4), (6, 0), (-1, 1)])
def test_a_size_that_no_line_holds_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="does not fit a line of 24"):
        list(flow([size], 0))
