"""`rli dashboards`: build, list, show and lint."""

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import click

from generator.errors import BuildError


@click.group()
def dashboards() -> None:
    """Build, check and look through the dashboards."""


@dashboards.command()
@click.option("--out", type=click.Path(path_type=Path), default="dist/dashboards", help="Folder to write to.")
@click.option("--only", multiple=True, metavar="NAME", help="Build this dashboard only; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
def build(out: Path, only: tuple[str, ...], as_json: bool) -> None:
    """Write the dashboards as JSON that Grafana 10 to 13 imports."""
    from generator.files import write_all
    from generator.render import to_bytes

    contents: dict[str, bytes] = {}
    counts: list[dict[str, Any]] = []
    try:
        sources = _sources(only)
        # A bar hides itself where the output is no terminal.
        with click.progressbar(sources, label="Building", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
            for source in bar:
                built = source.build()
                contents[f"{source.name}.json"] = to_bytes(built)
                counts.append({"name": source.name, **_count(built)})
        written = write_all(out, contents)
    except BuildError as fault:
        _fail(str(fault))
    except OSError as fault:
        _fail(f"cannot write to the folder {out}: {fault.strerror or fault}; choose another with --out")
    if as_json:
        rows = [{**count, "path": str(path)} for count, path in zip(counts, written, strict=True)]
        click.echo(json.dumps({"dashboards": rows}, indent=2))
        return
    for count, path in zip(counts, written, strict=True):
        click.echo(f"{path}  {count['panels']} panels, {count['queries']} queries")


@dashboards.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_(as_json: bool) -> None:
    """Name the dashboards and say what each shows."""
    try:
        found = [(source.name, source.load().description) for source in _sources(())]
    except BuildError as fault:
        _fail(str(fault))
    if as_json:
        rows = [{"name": name, "description": description} for name, description in found]
        click.echo(json.dumps({"dashboards": rows}, indent=2))
        return
    for name, description in found:
        click.echo(f"{name}\n    {description}")


@dashboards.command()
@click.argument("name")
def show(name: str) -> None:
    """Show a dashboard as text: its rows, panels, units and queries."""
    from generator.outline import outline

    try:
        built = _sources((name,))[0].build()
    except BuildError as fault:
        _fail(str(fault))
    click.echo(outline(built), nl=False)


@dashboards.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "sarif", "github"]), default="text", help="How to report."
)
@click.option("--config", type=click.Path(path_type=Path), help="The rules' settings; .rli-lint.yaml if it is there.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("--prometheus-url", metavar="URL", help="Run every query there too, over the last hour.")
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Value of a variable; may be repeated.")
def lint(
    paths: tuple[Path, ...],
    format_: str,
    config: Path | None,
    strict: bool,
    prometheus_url: str | None,
    variables: tuple[str, ...],
) -> None:
    """Check dashboards: ours, or the JSON files and folders at PATHS.

    Exit code 0: nothing wrong. 1: findings. 2: something could not be read.
    """
    from dashboards_src import known
    from generator.lint import LintInputError, lint_paths, load_config, render
    from generator.lint.run import lint_sources

    try:
        settings = load_config(config)
        live = _live(prometheus_url, variables) if prometheus_url else None
        if paths:
            report = lint_paths(paths, settings, known.of_anyones(), live)
        else:
            report = lint_sources(_built(), (), settings, known.of_ours(), live)
    except (LintInputError, BuildError) as fault:
        _fail(str(fault))
    terminal = sys.stdout.isatty()
    click.echo(render(report, format_, color=terminal, width=shutil.get_terminal_size().columns), nl=False)
    sys.exit(report.exit_code(strict))


def _live(url: str, variables: tuple[str, ...]) -> Any:
    """The Prometheus to run queries on, the hour to run them over, and what the variables stand for."""
    from generator.lint.execute import Live
    from generator.lint.prometheus import Prometheus
    from generator.lint.substitution import Window

    values: dict[str, list[str]] = {}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not (name and equals):
            _fail(f"--var {variable!r} is no NAME=VALUE; write --var project=verl")
        values.setdefault(name, []).append(value)
    return Live(Prometheus(url), Window(end=time.time(), seconds=3600), values)


def _built() -> list[Any]:
    """Our dashboards as the linter reads them, without a detour over files."""
    from generator.lint.read import read_dashboard
    from generator.lint.run import Source
    from generator.render import to_bytes

    documents = [(f"{source.name}.json", source.build()) for source in _sources(())]
    return [Source(read_dashboard(built, file), to_bytes(built).decode()) for file, built in documents]


def _sources(only: tuple[str, ...]) -> list[Any]:
    from dashboards_src.dashboards import FOLDER
    from generator.sources import chosen, discover

    return chosen(discover(FOLDER), only)


def _count(built: dict[str, Any]) -> dict[str, int]:
    panels = [inside for panel in built["panels"] for inside in (panel, *panel.get("panels", ()))]
    shown = [panel for panel in panels if panel["type"] != "row"]
    return {"panels": len(shown), "queries": sum(len(panel.get("targets", ())) for panel in shown)}


def _fail(sentence: str) -> NoReturn:
    click.echo(f"rli: {sentence}", err=True)
    sys.exit(2)
