"""Sums of totals that never fall, whatever the order they are added in.

A total is a vector: one number for a counter, the counts and the sum for a histogram, seconds,
intervals and ignored entries for a state. Prometheus takes the slightest fall of a counter for a
restart, so sums are exact before they are rounded, and what is folded is rounded up.
"""

import math
from collections.abc import Iterable, Sequence

Vector = tuple[float, ...]


def total(added: Sequence[Vector], taken: Iterable[Vector] = ()) -> Vector:
    """The sum of the vectors `added` less the vectors `taken`, rounded once."""
    negative = [tuple(-value for value in vector) for vector in taken]
    if len(added) == 1 and not negative:
        return added[0]
    return tuple(_sum(column) for column in zip(*added, *negative, strict=True))


def folded(added: Sequence[Vector], taken: Iterable[Vector] = ()) -> Vector:
    """As `total`, rounded up where it is not exact, so that what is added to it later never makes less."""
    negative = [tuple(-value for value in vector) for vector in taken]
    return tuple(_sum_up(column) for column in zip(*added, *negative, strict=True))


def _sum(values: Sequence[float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # past the largest float, or infinities of both signs
        return sum(values)


def _sum_up(values: Sequence[float]) -> float:
    result = _sum(values)
    if not math.isfinite(result) or _sum((*values, -result)) <= 0:
        return result
    return math.nextafter(result, math.inf)
