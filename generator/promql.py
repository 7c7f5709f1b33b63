"""Short ways to write the right PromQL.

A `Scope` holds the labels that part one run from another. Every selector made through it is
filtered by them and every aggregation keeps them, so that what belongs to two runs is never
added up. Expressions are plain strings: what a helper lacks is written by hand.

Where a metric was renamed between versions, pass its names as a sequence, the current one
first: each helper then reads whichever is there (`new or old`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

Names = str | Sequence[str]
"""A metric's name, or its names through time, the current one first."""


RATE_INTERVAL = "$__rate_interval"
"""Grafana's window for rates: at least four scrapes, and no gap between the points of a graph."""

WHOLE_RANGE = "$__range"
"""All of the time that is shown: for instant queries that sum it up."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Labels that every query is filtered by and every aggregation keeps.

    `filters` are pairs of a label and the dashboard variable that chooses its values. `window` is
    what rates look back over: the default is right for graphs.
    """

    filters: tuple[tuple[str, str], ...] = ()
    window: str = RATE_INTERVAL

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.filters)

    def select(self, names: Names, *matchers: str) -> str:
        """`name{label=~"$variable",…}`, with `matchers` (such as `mode="idle"`) after the scope's own."""
        return self._each(names, matchers, "", "{}")

    def over_range(self) -> "Scope":
        """The same scope for instant queries over all of the time that is shown."""
        return replace(self, window=WHOLE_RANGE)

    def level(self, expr: str) -> str:
        """What a gauge stands at: at each point of a graph as it is, over the whole range its mean.

        Give it the sum rather than take the sum of it: where a series ends and another goes on in
        its place, their means over the range would add up to twice the level.
        """
        return expr if self.window == RATE_INTERVAL else f"avg_over_time(({_bare(expr)})[{self.window}:])"

    def rate(self, names: Names, *matchers: str) -> str:
        """Increase a second of a counter."""
        return self._each(names, matchers, "", f"rate({{}}[{self.window}])")

    def increase(self, names: Names, *matchers: str) -> str:
        """Increase of a counter over the rate interval, which is at least four scrapes."""
        return self._each(names, matchers, "", f"increase({{}}[{self.window}])")

    def quantile(self, q: float, histogram: Names, *matchers: str, by: Sequence[str] = ()) -> str:
        """The `q` quantile (0 to 1) of a histogram over all that `by` does not keep apart.

        No value while it observed nothing: NaN would count as the smallest in a median of these.
        """
        buckets = self._each(histogram, matchers, "_bucket", f"rate({{}}[{self.window}])")
        return f"(histogram_quantile({q:g}, {self.sum(buckets, *by, 'le')}) >= 0)"

    def buckets(self, histogram: Names, *matchers: str, by: Sequence[str] = ()) -> str:
        """What fell into each bucket of a histogram, for a heatmap."""
        buckets = self._each(histogram, matchers, "_bucket", f"increase({{}}[{self.window}])")
        return self.sum(buckets, *by, "le")

    def mean(self, histogram: Names, *matchers: str, by: Sequence[str] = ()) -> str:
        """The mean of what a histogram observed; no value while it observed nothing."""
        total = self._each(histogram, matchers, "_sum", f"rate({{}}[{self.window}])")
        count = self._each(histogram, matchers, "_count", f"rate({{}}[{self.window}])")
        return ratio(self.sum(total, *by), self.sum(count, *by))

    def sum(self, expr: str, *by: str) -> str:
        return self._aggregate("sum", expr, by)

    def avg(self, expr: str, *by: str) -> str:
        return self._aggregate("avg", expr, by)

    def min(self, expr: str, *by: str) -> str:
        return self._aggregate("min", expr, by)

    def max(self, expr: str, *by: str) -> str:
        return self._aggregate("max", expr, by)

    def count(self, expr: str, *by: str) -> str:
        return self._aggregate("count", expr, by)

    def median(self, expr: str, *by: str) -> str:
        return self._aggregate("quantile", expr, by, "0.5, ")

    def top(self, n: int, expr: str, *by: str) -> str:
        """The `n` largest series of each group."""
        return self._aggregate("topk", expr, by, f"{n}, ")

    def bottom(self, n: int, expr: str, *by: str) -> str:
        """The `n` smallest series of each group."""
        return self._aggregate("bottomk", expr, by, f"{n}, ")

    def _aggregate(self, operator: str, expr: str, by: Sequence[str], parameter: str = "") -> str:
        kept = (*self.labels, *by)
        grouping = f" by ({', '.join(kept)}) " if kept else ""
        return f"{operator}{grouping}({parameter}{_bare(expr)})"

    def _each(self, names: Names, matchers: Sequence[str], suffix: str, around: str) -> str:
        every = (*(f'{label}=~"${variable}"' for label, variable in self.filters), *matchers)
        braces = f"{{{', '.join(every)}}}" if every else ""
        return either(
            *(
                around.replace("{}", f"{name}{suffix}{braces}")
                for name in ((names,) if isinstance(names, str) else names)
            )
        )


def ratio(part: str, whole: str) -> str:
    """`part / whole`, and no value (rather than NaN or infinity) while the whole is zero."""
    return f"{part} / ({whole} > 0)"


def either(*exprs: str) -> str:
    """The first of `exprs` that has a series for a label set: new names before old ones."""
    return exprs[0] if len(exprs) == 1 else f"({' or '.join(exprs)})"


def or_zero(expr: str) -> str:
    """`expr`, and a single zero when it has no series: for counts whose absence means none."""
    return f"{expr} or vector(0)"


def _bare(expr: str) -> str:
    """Without a pair of parentheses round the whole, which an aggregation's own make needless."""
    if not (expr.startswith("(") and expr.endswith(")")):
        return expr
    depth = 0
    for position, character in enumerate(expr):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(expr) - 1:
            return expr
    return expr[1:-1]
