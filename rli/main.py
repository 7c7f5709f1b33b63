"""The entry point of `rli` and `rl-insight`."""

import sys

_EXTRA = frozenset(
    {
        "anyio",
        "attr",
        "click",
        "fastapi",
        "grafanalib",
        "msgspec",
        "opentelemetry",
        "prometheus_client",
        "promql_parser",
        "requests",
        "starlette",
        "uvicorn",
        "yaml",
    }
)
"""What the extra `server` brings, by the names that are imported."""


def main() -> None:
    """Runs the command line.

    Without the packages that it needs it says which extra brings them; without room for its
    output, or when it is interrupted, it says so in a sentence too.
    """
    try:
        from rli.commands import rli

        rli()
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        if package not in _EXTRA:
            raise
        _end(2, f"the package {package} is missing; what brings it: pip install 'rl-insight[server]'")
    except KeyboardInterrupt:
        _end(130, "interrupted")
    except OSError as fault:
        _end(2, f"{fault.filename or 'output'}: {fault.strerror or fault}")


def _end(code: int, sentence: str) -> None:
    print(f"rli: {sentence}", file=sys.stderr)
    sys.exit(code)
