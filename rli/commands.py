"""The commands and command groups, each imported when it is called, so that `rli` starts fast."""

import importlib

import click

from rl_insight import __version__

_GROUPS = {
    "collector": "Run the service that takes reports and exposes them.",
    "dashboards": "Build, check and look through the dashboards.",
}


class LazyGroups(click.Group):
    """A group whose subcommands live in `rli.<name>` and are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_GROUPS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _GROUPS:
            return None
        command: click.Command = getattr(importlib.import_module(f"rli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_GROUPS.items()))


@click.command(cls=LazyGroups, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rl-insight")
def rli() -> None:
    """See what a reinforcement-learning run is doing, in Grafana."""
