"""Queries run on a real Prometheus."""

import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from generator.lint import LintConfig, LintInputError
from generator.lint.execute import Live, execute, execute_variable
from generator.lint.prometheus import Prometheus
from generator.lint.read import read_dashboard
from generator.lint.run import Source, lint_sources
from generator.lint.substitution import Values, Window, fill_in, first_value, values_of
from tests.lint.boards import DATASOURCE, board, findings, panel, variable
from tests.support.openmetrics import Exposition
from tests.support.prometheus import PrometheusServer, binary_path

END = 1_700_000_000
WINDOW = Window(end=END, seconds=1800)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Half an hour of a queue, of requests, and of something that is never a number."""
    folder = tmp_path_factory.mktemp("prometheus")
    times = list(range(END - 1800, END + 1, 15))
    out = Exposition(times)
    for job in ("a", "b.c"):
        out.gauge("queue_size", {"job": job}, [3.0] * len(times))
        out.counter("requests_total", {"job": job}, [float(at) for at in range(len(times))])
    out.gauge("never", {}, [float("nan")] * len(times))
    out.write(folder / "history.txt")
    blocks = [binary_path("promtool"), "tsdb", "create-blocks-from", "openmetrics", "history.txt", "data"]
    subprocess.run(blocks, cwd=folder, check=True, capture_output=True)
    with PrometheusServer(folder / "data", folder) as server:
        yield Prometheus(server.url)


@pytest.mark.parametrize(
    ("text", "values", "series"),
    [
        ("queue_size", {}, 2),
        ('queue_size{job="a"}', {}, 1),
        ('queue_size{job=~"$job"}', {}, 2),
        ('queue_size{job="$job"}', {}, 2),
        ("queue_size{job='$job'}", {}, 2),
        ('queue_size{job!~"$job"}', {}, 2),
        ('queue_size{job=~"$job"}', {"job": ["a", "b.c"]}, 2),
        ('queue_size{job=~"$job"}', {"job": ["bxc"]}, 0),
        ('queue_size{job="$job"}', {"job": "b.c"}, 1),
        ('queue_size{job=~"[[job]]"}', {"job": "b.+"}, 1),
        ("rate(requests_total[$__rate_interval])", {}, 2),
        ("sum(increase(requests_total[$__range])) / $__range_s", {}, 1),
        ("rate(requests_total[$window])", {"window": "2m"}, 2),
        ("topk($n, queue_size)", {}, 1),
        ("$metric", {"metric": "queue_size"}, 2),
        ("max_over_time(queue_size[$__range:$__interval])", {}, 2),
        ("queue_size{job=~`b\\.c`}", {}, 1),
    ],
)
def test_what_grafana_would_send(text: str, values: Values, series: int, prometheus: Prometheus) -> None:
    for instant in (True, False):
        result = execute(text, prometheus, WINDOW, values, instant)
        assert result.status == ("ok" if series else "empty"), result
        assert len(result.series) == series


def test_a_result_has_labels_and_values(prometheus: Prometheus) -> None:
    (series,) = execute('queue_size{job="a"}', prometheus, WINDOW).series
    assert series.labels == {"__name__": "queue_size", "job": "a"}
    assert len(series.values) == 121
    assert series.values[-1] == (float(END), 3.0)
    (point,) = execute("vector(7)", prometheus, WINDOW, instant=True).series
    assert point.values == ((float(END), 7.0),)
    assert execute("42", prometheus, WINDOW, instant=True).series[0].values[0][1] == 42.0


def test_what_fails_is_empty_or_cannot_be_asked(prometheus: Prometheus) -> None:
    failed = execute('rate({__name__=~".+"}[5m])', prometheus, Window(END, 60))
    assert failed.status == "failed"
    assert "same labelset" in failed.detail
    assert execute("nobody_exposes_this", prometheus, WINDOW).status == "empty"
    nothing = execute("never", prometheus, WINDOW)
    assert (nothing.status, nothing.detail) == ("empty", "it returns only NaN")
    skipped = execute("$function(queue_size)", prometheus, WINDOW)
    assert (skipped.status, skipped.detail) == ("skipped", "no value is known for $function")


def test_a_wide_window_is_asked_in_fewer_points(prometheus: Prometheus) -> None:
    assert execute("queue_size", prometheus, Window(END, 30 * 86_400)).status == "ok"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("label_values(queue_size, job)", ("a", "b.c")),
        ('label_values(queue_size{job=~"$job"}, job)', ("a", "b.c")),
        ("label_values(job)", ("a", "b.c")),
        ("label_names()", ("__name__", "job")),
        ("metrics(^queue)", ("queue_size",)),
        ("label_values(nobody_exposes_this, job)", ()),
    ],
)
def test_queries_of_variables(text: str, names: tuple[str, ...], prometheus: Prometheus) -> None:
    result = execute_variable(text, prometheus, WINDOW)
    assert (result.status, result.names) == ("ok" if names else "empty", names)


def test_a_query_of_a_variable_that_is_promql(prometheus: Prometheus) -> None:
    assert execute_variable("query_result(topk(1, queue_size))", prometheus, WINDOW).status == "ok"
    assert execute_variable("sum(queue_size)", prometheus, WINDOW).status == "failed"


def test_the_linter_says_which_queries_fail_and_which_return_nothing(prometheus: Prometheus) -> None:
    annotation = {"name": "restarts", "expr": "resets(nobody[5m])", "datasource": DATASOURCE}
    document = board(
        panel('queue_size{job=~"$job"}'),
        panel('rate({__name__=~"queue_size|requests_total"}[$__rate_interval])', id=2, title="Fails"),
        panel("nobody_exposes_this", id=3, title="Empty"),
        variables=(variable("job"), variable("gone", "label_values(nobody, x)")),
        annotations={"list": [annotation]},
    )
    live = Live(prometheus, WINDOW)
    report = lint_sources([Source(read_dashboard(document))], live=live)
    found = [(one.rule, one.panel, one.message.split(":")[0]) for one in report.findings if one.rule[:6] == "query-"]
    assert found[0] == ("query-fails", "Fails", "vector cannot contain metrics with the same labelset")
    assert sorted(found[1:]) == [
        ("query-empty", "", "it returns nothing"),
        ("query-empty", "", "the query of $gone"),
        ("query-empty", "", "the query of $job"),
        ("query-empty", "Empty", "it returns nothing"),
    ]
    off = LintConfig({"query-empty": "off", "query-fails": "off"})
    assert not {"query-fails", "query-empty"} & {
        one.rule for one in lint_sources([Source(read_dashboard(document))], config=off, live=live).findings
    }


def test_variables_stand_at_what_is_written_in_the_dashboard() -> None:
    document = board(
        variables=(
            {"type": "custom", "name": "plain", "query": "1,2"},
            {"type": "custom", "name": "named", "query": "one : 1,two : 2"},
            {"type": "custom", "name": "chosen", "query": "1,2", "current": {"value": ["2"]}},
            {"type": "interval", "name": "window", "query": "1m,5m", "current": {"value": "$__auto_interval_window"}},
            {"type": "constant", "name": "fixed", "query": "x"},
            variable("all", allValue=".+", current={"value": "$__all"}),
            variable("some", current={"value": "yesterday"}),
        )
    )
    expected = {"plain": "1", "named": "1", "chosen": "2", "window": "1m", "fixed": "x", "all": ".+"}
    values = values_of(read_dashboard(document))
    assert {name: value for name, value in values.items() if name != "datasource"} == expected
    assert findings(document, "json-shape") == []


def test_a_variable_without_all_stands_at_the_first_of_its_values(prometheus: Prometheus) -> None:
    document = board(
        panel('queue_size{job="$job"} == 3'),
        panel('{__name__=~"$metric"}', id=2, title="Named"),
        panel('queue_size{job=~"$picked"}', id=3, title="Picked"),
        variables=(
            variable("job", "label_values(queue_size, job)"),
            variable("metric", "metrics(queue.*)"),
            variable("picked", "label_values(queue_size, job)", regex="/(.)[.]c/"),
        ),
    )
    report = lint_sources([Source(read_dashboard(document))], live=Live(prometheus, WINDOW))
    found = [(one.rule, one.panel, one.message) for one in report.findings if one.rule.startswith("query-")]
    # The regex picks the b of b.c, which is no job.
    assert found == [("query-empty", "Picked", 'it returns nothing: queue_size{job=~"(b)"}')]


def test_a_query_that_cannot_be_run_is_named(prometheus: Prometheus) -> None:
    document = board(
        panel("$function(queue_size)"),
        panel('queue_size{job="$odd"}', id=2, title="Odd", gridPos={"x": 12, "y": 0, "w": 12, "h": 8}),
        variables=(
            {"type": "textbox", "name": "function", "query": ""},
            variable("odd", "label_values(queue_size, job)", regex="/(?<=a|bb)c/"),
        ),
    )
    report = lint_sources([Source(read_dashboard(document))], live=Live(prometheus, WINDOW))
    assert [(one.rule, one.message) for one in report.findings] == [
        (
            "query-not-run",
            "the query of $odd: the regex of $odd cannot be tried here: look-behind requires fixed-width pattern: "
            "label_values(queue_size, job)",
        ),
        ("query-not-run", "no value is known for $function: $function(queue_size)"),
    ]


@pytest.mark.parametrize(
    ("regex", "value"),
    [
        ("", "a-1"),
        ("b", "b-2"),
        ("/(.)-2/", "b"),
        ("/(?<text>.)-(?<value>2)/", "2"),
        ("/^c/", ""),
    ],
)
def test_the_regex_of_a_variable_picks_its_values(regex: str, value: str) -> None:
    (_, one) = read_dashboard(board(variables=(variable("x", regex=regex),))).variables
    assert first_value(one, ["a-1", "b-2"]) == value


def test_a_name_that_nobody_chose_is_any_name() -> None:
    assert fill_in('{__name__=~"$m", a=~"$m"}', {}, WINDOW) == '{__name__=~".+", a=~".*"}'
    assert fill_in('{__name__="$m"}', {}, WINDOW) == '{__name__=~".+"}'


def test_macros_are_what_grafana_makes_of_them() -> None:
    window = Window(end=1000.0, seconds=600.0, step=30.0, scrape_interval=15.0)
    assert fill_in("a[$__rate_interval]", {}, window) == "a[60000ms]"
    assert fill_in("a[${__interval}] + $__interval_ms", {}, window) == "a[30000ms] + 30000"
    assert fill_in("$__range_s $__range_ms ${__from} ${__to:date:seconds}", {}, window) == "600 600000 400000 1000"
    assert fill_in('a{b="x $c"}', {"c": 'q"\\'}, window) == 'a{b="x q\\"\\\\"}'
    assert fill_in('a{b="x-$c"}', {}, window) == 'a{b=~"x-.*"}'


class _Odd(BaseHTTPRequestHandler):
    """Answers as many things that are no Prometheus do."""

    answer: tuple[int, dict[str, str], bytes] = (200, {}, b"")

    def do_POST(self) -> None:
        status, headers, body = self.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def odd_url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Odd) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((200, {}, b"<html>"), "does not answer as a Prometheus: the answer is not Prometheus's JSON"),
        ((200, {}, b"{}"), "does not answer as a Prometheus"),
        ((200, {}, b'{"data": {"resultType": "vector", "result": 5}}'), "does not answer as a Prometheus"),
        ((200, {}, b'{"data": {"resultType": "vector", "result": [5]}}'), "does not answer as a Prometheus"),
        ((404, {}, b"page not found"), "does not answer as a Prometheus: http://127.0.0.1:"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "redirects to file:///etc/passwd; give that"),
        ((401, {}, b""), "refuses the login (401); write it as https://user:password@host"),
    ],
)
def test_what_is_no_prometheus(answer: tuple[int, dict[str, str], bytes], sentence: str, odd_url: str) -> None:
    _Odd.answer = answer
    with pytest.raises(LintInputError) as caught:
        lint_sources([], live=Live(Prometheus(odd_url), WINDOW))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nobody_there() -> None:
    with pytest.raises(LintInputError, match=r"Prometheus at http://127\.0\.0\.1:9 cannot be reached: .*refused"):
        Prometheus("http://127.0.0.1:9").check()


@pytest.mark.parametrize("url", ["", "localhost:9090", "file:///etc/passwd", "ftp://host", "http://", "http://h:port"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(LintInputError, match="is no address of a Prometheus; write it as http://host:9090"):
        Prometheus(url)


def test_a_password_is_sent_but_never_shown() -> None:
    prometheus = Prometheus("http://user:s%40crit@127.0.0.1:9/prefix/")
    assert prometheus.url == "http://127.0.0.1:9/prefix"
    with pytest.raises(LintInputError) as caught:
        prometheus.check()
    assert "crit" not in str(caught.value)


def test_a_folder_of_dashboards_is_checked_with_one_prometheus(prometheus: Prometheus, tmp_path: Path) -> None:
    assert lint_sources([], live=Live(prometheus, WINDOW)).exit_code() == 0
