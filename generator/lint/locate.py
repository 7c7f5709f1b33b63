"""The line of a JSON document on which a value stands.

Python's parser does not keep positions. It does skip a value fast, so the way to one value is walked
level by level, and the places of the siblings passed are kept for the next.
"""

import re
from bisect import bisect_right
from json import JSONDecoder

from generator.lint.findings import JsonPath

_SPACE_OR_SEPARATOR = re.compile(r"[\s,:]*")
_DECODER = JSONDecoder()


class Lines:
    """Looks up lines in a document that is known to parse."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._children: dict[int, dict[str | int, int]] = {}

    def line(self, path: JsonPath) -> int:
        """The line where the value at `path` begins, or the nearest value around it that is there."""
        at = self._after_space(0)
        try:
            for step in path:
                inside = self._places(at)
                if step not in inside:
                    break
                at = inside[step]
        except RecursionError:
            # Nested just deep enough to be parsed where it was loaded, but not from here.
            pass
        return bisect_right(self._starts, at)

    def _places(self, at: int) -> dict[str | int, int]:
        if at not in self._children:
            opening = self._text[at : at + 1]
            walk = {"{": self._object, "[": self._array}.get(opening)
            self._children[at] = walk(at + 1) if walk else {}
        return self._children[at]

    def _object(self, at: int) -> dict[str | int, int]:
        places: dict[str | int, int] = {}
        at = self._after_space(at)
        while self._text[at] != "}":
            key, at = _DECODER.raw_decode(self._text, at)
            at = self._after_space(at)
            places[key] = at
            at = self._after_value(at)
        return places

    def _array(self, at: int) -> dict[str | int, int]:
        places: dict[str | int, int] = {}
        at = self._after_space(at)
        while self._text[at] != "]":
            places[len(places)] = at
            at = self._after_value(at)
        return places

    def _after_value(self, at: int) -> int:
        return self._after_space(_DECODER.raw_decode(self._text, at)[1])

    def _after_space(self, at: int) -> int:
        match = _SPACE_OR_SEPARATOR.match(self._text, at)
        return match.end() if match else at
