"""`rli collector`: run the service that takes reports."""

import os
import sys
from pathlib import Path

import click

from collector.run import FLAGS, main


def _with_flags(command: click.Command) -> click.Command:
    for name, says in FLAGS.items():
        command.params.append(click.Option([f"--{name.replace('_', '-')}"], help=says))
    return command


@click.command()
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="YAML file of settings.")
@click.option("--print-config", is_flag=True, help="Show each setting and where its value comes from, and exit.")
def collector(config: Path | None, print_config: bool, **flags: str | None) -> None:
    """Take reports from training processes; expose them to Prometheus and Tempo.

    Every setting can stand in the YAML file or in the environment as RL_INSIGHT_COLLECTOR_<SETTING>;
    flags win over both.
    """
    sys.exit(main(config, os.environ, print_config, flags))


collector = _with_flags(collector)
