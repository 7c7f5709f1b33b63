"""Rules that need to know what a metric is: counter or gauge, known or not, of one run or of all."""

from collections.abc import Iterator

from generator.lint.expressions import Expression, offered, selectors, shown
from generator.lint.known import KnownMetrics
from generator.lint.model import Dashboard, Variable
from generator.lint.promql import Selector
from generator.lint.registry import Context, Problem, rule
from generator.lint.rules_queries import RATES
from generator.lint.templating import references

_FINE_FOR_COUNTERS = RATES | {
    "xrate", "xincrease", "xirate", "resets", "changes",
    "absent", "absent_over_time", "present_over_time", "count", "count_over_time", "group", "timestamp",
}  # fmt: skip
"""What takes care of a counter's resets, or does not look at its value."""
_ONLY_FOR_COUNTERS = RATES | {"resets"}


@rule(
    "counter-without-rate",
    "error",
    "A counter is shown as it is",
    help="Put it under rate(…[$__rate_interval]), or under increase(…[$__range]) for a total.",
    why="A counter only says how much there was since its process began; it falls to 0 at each restart.",
)
def counter_without_rate(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    names = {selector.name for _, selector in selectors(dashboard)}
    for expression, selector in selectors(dashboard):
        if not _FINE_FOR_COUNTERS.isdisjoint(selector.calls()):
            continue
        if is_counter(selector.name, names, context.known):
            sure = context.known is not None and context.known.type_of(selector.name) is not None
            message = f"{selector.name} {'is' if sure else 'by its name is'} a counter, but under no rate or increase"
            yield Problem(message, expression.panel, expression.query, expression.path)


def is_counter(name: str, names: set[str], known: KnownMetrics | None) -> bool:
    """Is it one, as far as known; else by its suffix.

    Many a gauge ends in _sum or _count, so there a second part of the histogram must be among `names`.
    """
    type_ = known.type_of(name) if known else None
    if type_:
        return type_ == "counter"
    if name.endswith(("_total", "_bucket")):
        return True
    for suffix in ("_sum", "_count"):
        if name.endswith(suffix):
            base = name.removesuffix(suffix)
            return any(f"{base}{other}" in names for other in {"_bucket", "_sum", "_count"} - {suffix})
    return False


@rule(
    "gauge-under-rate",
    "error",
    "A rate is taken of a gauge",
    help="Show the gauge as it is; for its slope use deriv or delta.",
    why="rate and increase take each fall of the value for a restart, and add up what never was.",
    needs_known=True,
)
def gauge_under_rate(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if context.known is None:
        return
    for expression, selector in selectors(dashboard):
        functions = [name for name in selector.calls() if name in _ONLY_FOR_COUNTERS]
        if functions and context.known.type_of(selector.name) == "gauge" and not _is_counted(selector):
            message = f"{functions[0]} of {selector.name}, which is a gauge"
            yield Problem(message, expression.panel, expression.query, expression.path)


def _is_counted(selector: Selector) -> bool:
    """Is the rate taken of something that was made from the gauge, over a subquery?"""
    return any(frame.kind == "subquery" for frame in selector.frames)


@rule(
    "unknown-metric",
    "error",
    "A metric is used that is not known",
    help="Correct the name, or add the metric to the catalog.",
    why="A name that nobody exposes gives an empty panel, and an empty panel looks like nothing happened.",
    needs_known=True,
)
def unknown_metric(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if context.known is None or not context.known.complete:
        return
    for expression in (*shown(dashboard), *offered(dashboard)):
        for name in dict.fromkeys(selector.name for selector in expression.parsed.selectors):
            if name and "$" not in name and "[[" not in name and not context.known.knows(name):
                message = f"{_where(expression)}{name} is not known"
                yield Problem(message, expression.panel, expression.query, expression.path)


@rule(
    "run-filter",
    "error",
    "A query mixes runs",
    help="Filter the metric by each of the run's labels with its variable.",
    why="Two runs at once blend into numbers that belong to neither.",
    needs_known=True,
)
def run_filter(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    if context.known is None:
        return
    for expression in (*shown(dashboard), *offered(dashboard)):
        needed = _needed(context.known, dashboard, expression.variable)
        for selector in dict.fromkeys(expression.parsed.selectors):
            missing = _missing(selector, needed)
            if missing and _carries(selector, context.known):
                message = f"{_where(expression)}{selector.label()} lacks {', '.join(missing)}"
                yield Problem(message, expression.panel, expression.query, expression.path)


def _needed(known: KnownMetrics, dashboard: Dashboard, variable: Variable | None) -> dict[str, str]:
    """Labels and the variables that filter by them. A variable can follow only those that stand before it."""
    if variable is None:
        return dict(known.run_matchers)
    names = [one.name for one in dashboard.variables]
    before = set(names[: names.index(variable.name)])
    return {label: name for label, name in known.run_matchers.items() if name in before}


def _missing(selector: Selector, needed: dict[str, str]) -> list[str]:
    present = {
        (matcher.label, name)
        for matcher in selector.matchers
        if matcher.operator in ("=", "=~")
        for name in references(matcher.value)
    }
    return [f'{label}=~"${name}"' for label, name in needed.items() if (label, name) not in present]


def _carries(selector: Selector, known: KnownMetrics) -> bool:
    if selector.name:
        return known.carries_run_labels(selector.name)
    pattern = selector.pattern
    if not pattern:
        return False
    beginning = _literal_beginning(pattern)
    return known.carries_run_labels(beginning) or any(map(known.carries_run_labels, known.matching(pattern)))


def _literal_beginning(pattern: str) -> str:
    """What every name that the pattern matches begins with."""
    for at, character in enumerate(pattern):
        if not (character.isalnum() or character in "_:"):
            return pattern[: max(0, at - 1)] if character in "?*{" else pattern[:at]
    return pattern


def _where(expression: Expression) -> str:
    return f"the query of ${expression.variable.name}: " if expression.variable else ""
