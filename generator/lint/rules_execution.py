"""Rules whose findings come from a real Prometheus; execute.py finds them."""

from generator.lint.registry import Rule, add

QUERY_FAILS = Rule(
    "query-fails",
    "error",
    "Prometheus refuses a query",
    help="Correct the query as Prometheus says.",
    why="The panel shows an error instead of data.",
)
QUERY_EMPTY = Rule(
    "query-empty",
    "warning",
    "A query returns nothing",
    help="Compare names and labels with what this Prometheus has; exclude what is rightly empty, with the reason.",
    why="An empty panel looks like nothing happened.",
)
QUERY_NOT_RUN = Rule(
    "query-not-run",
    "warning",
    "A query could not be run",
    help="Save the dashboard with a value for the variable, or exclude the panel.",
    why="Whether Prometheus accepts it, and whether it returns anything, is not known.",
)

for _rule in (QUERY_FAILS, QUERY_EMPTY, QUERY_NOT_RUN):
    add(_rule)
