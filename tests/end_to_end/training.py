"""Processes that stand in for a training job's, each reporting through the real client."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Worker:
    """A Python process that runs a script with `rl_insight` imported, and can be told to go on or be killed.

    The script may call `wait()`, which returns when the test calls `go_on`.
    """

    def __init__(self, url: str, script: str, job: str = "", **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RL_INSIGHT", "SLURM"))}
        settings = {"RL_INSIGHT_SERVER_URL": url, "RL_INSIGHT_INTERVAL": "0.2", "RL_INSIGHT_RUN_ID": job}
        prelude = "import sys, time, threading, asyncio, os, rl_insight\nwait = sys.stdin.readline\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + textwrap.dedent(script)],
            cwd=ROOT,
            env={**kept, **settings, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def line(self) -> str:
        """The next line that the script prints."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def end(self, seconds: float = 30) -> tuple[int, str]:
        """Lets the script end; its exit code and what it wrote to stderr."""
        _, errors = self.process.communicate(timeout=seconds)
        return self.process.returncode, errors

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.communicate()


def labels(run: Mapping[str, str], **more: str) -> tuple[tuple[str, str], ...]:
    """Labels as the collector's page has them."""
    return tuple(sorted({**run, **more}.items()))
