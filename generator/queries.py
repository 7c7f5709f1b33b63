"""What a panel asks of a data source."""

from dataclasses import dataclass
from typing import Any, Literal

PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
"""Every PromQL query goes through the dashboard's variable `datasource`."""

TEMPO = {"type": "tempo", "uid": "${tempo}"}
"""Every TraceQL query goes through the dashboard's variable `tempo`."""


@dataclass(frozen=True, slots=True)
class Query:
    """A PromQL query.

    `legend` names a series by its labels (`{{replica}}`); `instant` asks for the last moment
    only; `shape` is how the answer is laid out; `min_step` is the finest resolution worth
    asking for (`15s`).
    """

    expr: str
    legend: str = ""
    instant: bool = False
    shape: Literal["time_series", "table", "heatmap"] = "time_series"
    min_step: str | None = None

    @property
    def text(self) -> str:
        return self.expr

    @property
    def datasource(self) -> dict[str, str]:
        return PROMETHEUS

    def target(self, ref: str) -> dict[str, Any]:
        """The query as Grafana's JSON, under the letter by which transformations call it."""
        target: dict[str, Any] = {
            "refId": ref,
            "datasource": PROMETHEUS,
            "editorMode": "code",
            "expr": self.expr,
            "format": self.shape,
            "instant": self.instant,
            "range": not self.instant,
            # "__auto" would show the whole label set where there is one series.
            "legendFormat": self.legend,
        }
        if self.min_step:
            target["interval"] = self.min_step
        return target


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """A TraceQL search whose spans come back as the rows of one table.

    `limit` bounds the traces; Tempo 3 refuses more than 262144. `spans_per_trace` is 1 where
    each span is a trace of its own, which is the only way to get all of them.
    """

    traceql: str
    limit: int = 20000
    spans_per_trace: int = 1

    @property
    def text(self) -> str:
        return self.traceql

    @property
    def datasource(self) -> dict[str, str]:
        return TEMPO

    def target(self, ref: str) -> dict[str, Any]:
        """The search as Grafana's JSON."""
        return {
            "refId": ref,
            "datasource": TEMPO,
            "queryType": "traceql",
            "query": self.traceql,
            "limit": self.limit,
            "spss": self.spans_per_trace,
            "tableType": "spans",
            "filters": [],
        }


AnyQuery = Query | TraceQuery


def reference(position: int) -> str:
    """A, B, … Z, AA, AB, …: the letter of the query at `position`, counted from 0."""
    letters = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
