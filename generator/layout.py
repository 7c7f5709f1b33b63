"""Where panels stand: left to right in the order they are declared, a new line when one is full."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

GRID_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle in Grafana's grid; `y` grows downwards."""

    x: int
    y: int
    w: int
    h: int


def flow(sizes: Iterable[tuple[int, int]], top: int) -> Iterator[Place]:
    """The place of each (width, height), from the line `top` down; a line is as high as its highest.

    Raises ValueError for a size that no line can hold.
    """
    x, y, line_height = 0, top, 0
    for width, height in sizes:
        if not 1 <= width <= GRID_WIDTH or height < 1:
            raise ValueError(f"{width} wide and {height} high does not fit a line of {GRID_WIDTH}")
        if x + width > GRID_WIDTH:
            x, y, line_height = 0, y + line_height, 0
        yield Place(x, y, width, height)
        x += width
        line_height = max(line_height, height)
