"""From flags and environment to a running collector: what the command lines share."""

import sys
from collections.abc import Mapping
from pathlib import Path

from .config import load
from .errors import ConfigError
from .logs import configure
from .settings import ABOUT

_FLAGS = ("host", "port", "data_dir", "otlp_endpoint", "targets_file", "log_format", "log_level")
FLAGS: dict[str, str] = {name: ABOUT[name].says for name in _FLAGS}
"""Settings that have a flag, and what they mean. The rest are set by file or environment."""


def main(
    config: Path | None, environment: Mapping[str, str], print_config: bool, flags: Mapping[str, str | None]
) -> int:
    """Runs the collector, or prints its settings; returns the exit code: 0, 1 for a failure, 2 for bad settings."""
    try:
        loaded = load(config, environment, flags)
        if print_config:
            print("\n".join(loaded.lines()))
            return 0
        configure(loaded.settings.log_format, loaded.settings.log_level)
        from .service import serve  # with the settings alone, nothing of the server need be loaded

        return serve(loaded.settings)
    except ConfigError as error:
        print(f"collector: {error}", file=sys.stderr)
        return 2
