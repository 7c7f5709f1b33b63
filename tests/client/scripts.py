"""Programs that tests run in an interpreter of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment(url: str, **more: str) -> dict[str, str]:
    """The variables of such a program: the tree's client, told of a server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RL_INSIGHT_", "SLURM_"))}
    told = {"RL_INSIGHT_SERVER_URL": url, "RL_INSIGHT_INTERVAL": "0.1", "PYTHONPATH": str(ROOT)}
    return {**kept, **told, "PYTHONWARNINGS": "error", **more}


def start(url: str, program: str, **more: str) -> subprocess.Popen[str]:
    """Starts the program, whose output is to be read."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment(url, **more), text=True, **streams)  # type: ignore[call-overload]


def run(url: str, program: str, **more: str) -> tuple[int, str, str]:
    """Runs the program to its end; its exit code and what it wrote on stdout and stderr."""
    process = start(url, program, **more)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err
