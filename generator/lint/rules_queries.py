"""Rules about single queries: that they can be read, and that they ask what was meant."""

from collections import Counter
from collections.abc import Iterator

from generator.lint.brackets import unbalanced
from generator.lint.expressions import selectors, shown
from generator.lint.model import Dashboard
from generator.lint.promql import Frame, Selector, shortened
from generator.lint.registry import Context, Problem, rule

RATES = frozenset({"rate", "irate", "increase"})
_DROPS_NAME = RATES | {
    "delta", "idelta", "deriv", "changes", "resets", "predict_linear", "holt_winters",
    "double_exponential_smoothing", "avg_over_time", "min_over_time", "max_over_time", "sum_over_time",
    "count_over_time", "quantile_over_time", "stddev_over_time", "stdvar_over_time", "present_over_time",
    "mad_over_time",
}  # fmt: skip
"""Functions over a range whose result has no metric name. last_over_time and first_over_time keep it."""


@rule(
    "promql",
    "error",
    "A query is no PromQL",
    help="Correct the query; Grafana's macros and the dashboard's variables may stand in it.",
    why="The panel shows an error instead of data.",
)
def promql(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression in shown(dashboard):
        if expression.parsed.error:
            text = f": {shortened(expression.text)}" if expression.text.strip() else ""
            yield Problem(f"{expression.parsed.error}{text}", expression.panel, expression.query, expression.path)


@rule(
    "query-brackets",
    "error",
    "Brackets or quotes of a TraceQL or LogQL query do not match",
    help="Close what is open, or take away what closes nothing.",
    why="Tempo and Loki answer with an error.",
)
def query_brackets(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel, query in dashboard.queries():
        if query.language in ("traceql", "logql"):
            wrong = unbalanced(query.text) if query.text.strip() else "the query is empty"
            if wrong:
                yield Problem(f"{wrong}: {shortened(query.text)}", panel, query, query.text_path)


@rule(
    "ref-id",
    "error",
    "Queries of a panel cannot be told apart",
    help="Give each query of the panel a refId of its own, such as A, B, C.",
    why="Grafana keeps results by refId: of two queries with one refId, one is lost.",
)
def ref_id(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for panel in dashboard.panels:
        for name, count in Counter(query.ref_id for query in panel.queries).items():
            if not name:
                yield Problem(f"{_times(count)} no refId", panel, path=panel.path)
            elif count > 1:
                yield Problem(f"{count} queries have the refId {name!r}", panel, path=panel.path)


def _times(count: int) -> str:
    return "a query has" if count == 1 else f"{count} queries have"


@rule(
    "rate-interval",
    "warning",
    "A rate is taken over a fixed window",
    help="Use [$__rate_interval], or [$__range] for one number over all that is shown.",
    why="It is at least four scrapes and grows with the zoom. A fixed window is empty with slow scrapes and "
    "skips data when zoomed out; $__interval is empty when zoomed in.",
)
def rate_interval(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression, selector in selectors(dashboard):
        window, function = _window(selector)
        fixed = "$" not in window and function in ("rate", "irate")
        if window and function in RATES and (fixed or _is_interval(window)):
            message = f"{function}({selector.label()}[{window}])"
            yield Problem(message, expression.panel, expression.query, expression.path)


def _window(selector: Selector) -> tuple[str, str]:
    """The range of a selector and the function over it."""
    match selector.frames:
        case (Frame("range", window), Frame("call", function), *_):
            return window, function
    return "", ""


def _is_interval(window: str) -> bool:
    return window.strip("${}").split(":")[0] == "__interval"


@rule(
    "rate-of-aggregate",
    "error",
    "A rate is taken of a sum",
    help="Take the rate of each series first, then aggregate: sum(rate(…)).",
    why="When one of the series restarts, its fall looks like a reset of the whole sum: a huge false peak.",
)
def rate_of_aggregate(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression, selector in selectors(dashboard):
        kinds = [frame.kind for frame in selector.frames]
        rates = [at for at, frame in enumerate(selector.frames) if frame.kind == "call" and frame.name in RATES]
        # Of a rate inside a rate, the inner one has taken care of resets.
        if rates and "aggregate" in kinds[: rates[0]]:
            name = selector.frames[rates[0]].name
            message = f"{name}(…) of an aggregation of {selector.label()}"
            yield Problem(message, expression.panel, expression.query, expression.path)


@rule(
    "name-pattern-in-function",
    "error",
    "A selector by name pattern is under a function that drops the name",
    help="Plot the selector bare, or keep the name first: "
    'rate(label_replace({__name__=~"…"}, "metric", "$1", "__name__", "(.+)")[$__rate_interval:]).',
    why="As soon as the pattern matches two metrics, Prometheus answers `vector cannot contain metrics with the "
    "same labelset`.",
)
def name_pattern_in_function(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression, selector in selectors(dashboard):
        function = selector.frames[1].name if len(selector.frames) > 1 else ""
        over_time = bool(selector.frames) and selector.frames[0].kind in ("range", "subquery")
        if not selector.name and selector.pattern and over_time and function in _DROPS_NAME:
            message = f'{function}({{__name__=~"{shortened(selector.pattern)}"}}[…])'
            yield Problem(message, expression.panel, expression.query, expression.path)


@rule(
    "histogram-le",
    "error",
    "A quantile is taken of buckets that lost their le",
    help="Keep le in the aggregation: histogram_quantile(0.9, sum by (le) (rate(…_bucket[$__rate_interval]))).",
    why="Without le there are no buckets: the result is always empty.",
)
def histogram_le(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression, selector in selectors(dashboard):
        names = [frame.name for frame in selector.frames]
        if not selector.name.endswith("_bucket") or "histogram_quantile" not in names:
            continue
        inside = selector.frames[: names.index("histogram_quantile")]
        if any(frame.kind == "aggregate" and frame.keeps is not None and "le" not in frame.keeps for frame in inside):
            message = f"the aggregation of {selector.name} drops le"
            yield Problem(message, expression.panel, expression.query, expression.path)


@rule(
    "required-label",
    "off",
    "A selector does not filter by a label that it must",
    help='Add the matcher, such as job=~"$job", or change `required_labels` in the configuration.',
    why="Grafana's own linter asks for job and instance. Off by default: a sum over all instances is often "
    "what is meant, and a dashboard may follow a run, a cluster or a tenant instead.",
)
def required_label(dashboard: Dashboard, context: Context) -> Iterator[Problem]:
    for expression, selector in selectors(dashboard):
        present = {matcher.label for matcher in selector.matchers}
        missing = [label for label in context.limits.required_labels if label not in present]
        if missing:
            message = f"{selector.label()} does not filter by {' and '.join(missing)}"
            yield Problem(message, expression.panel, expression.query, expression.path)
