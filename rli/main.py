"""The entry point of `rli` and `rl-insight`."""

import sys


def main() -> None:
    """Runs the command line; without the packages that it needs, says which extra brings them."""
    try:
        from rli.commands import rli
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] not in _EXTRA:
            raise
        sys.exit(_without_extra(missing.name))
    rli()


_EXTRA = ("click", "rich", "grafanalib", "attr", "promql_parser", "yaml")


def _without_extra(name: str) -> int:
    print(
        f"rli: the package {name} is missing; install the extra that brings it: pip install 'rl-insight[server]'",
        file=sys.stderr,
    )
    return 2
