"""Finds and builds dashboards that are declared as Python files in a folder, one a file."""

import importlib.util
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generator.dashboard import Dashboard
from generator.errors import BuildError
from generator.fields import Json


@dataclass(frozen=True, slots=True)
class Source:
    """A file that declares a dashboard as `DASHBOARD`; `name` is the file's, and the dashboard's."""

    name: str
    path: Path

    def load(self) -> Dashboard:
        """The dashboard that the file declares.

        Raises BuildError, naming file and line, for a file that raises or declares none.
        """
        spec = importlib.util.spec_from_file_location(f"dashboard_{self.name}", self.path)
        if spec is None or spec.loader is None:
            raise BuildError(f"{self.path}: cannot be read as Python")
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BuildError as fault:
            raise BuildError(f"{self.path}: {fault}") from fault
        except (Exception, SystemExit) as fault:  # a dashboard's author may raise anything
            raise BuildError(f"{self.path}, {_line_of(fault, self.path)}: {_said(fault)}") from fault
        dashboard = getattr(module, "DASHBOARD", None)
        if not isinstance(dashboard, Dashboard):
            raise BuildError(f"{self.path}: declares no DASHBOARD; add DASHBOARD = Dashboard(…)")
        if dashboard.name != self.name:
            raise BuildError(f"{self.path}: declares {dashboard.name!r}; the name must be the file's, {self.name!r}")
        return dashboard

    def build(self) -> Json:
        """The dashboard as Grafana's JSON. Raises BuildError, naming the file."""
        dashboard = self.load()
        try:
            return dashboard.build()
        except BuildError as fault:
            raise BuildError(f"{self.path}: {fault}") from fault


def discover(folder: Path) -> list[Source]:
    """The dashboards of a folder by name; a file whose name starts with `_` is none."""
    return [Source(path.stem, path) for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")]


def chosen(sources: Sequence[Source], names: Sequence[str]) -> list[Source]:
    """Those of `names`, or all where none is named. Raises BuildError for a name that there is not."""
    known = {source.name: source for source in sources}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BuildError(f"no dashboard is called {unknown[0]!r}; there are {', '.join(known) or 'none'}")
    return [source for source in sources if not names or source.name in names]


def _line_of(fault: BaseException, path: Path) -> str:
    if isinstance(fault, SyntaxError) and fault.filename == str(path):
        return f"line {fault.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == str(path)]
    return f"line {lines[-1]}" if lines else "when it is imported"


def _said(fault: BaseException) -> str:
    text = fault.msg if isinstance(fault, SyntaxError) else str(fault)
    return f"{type(fault).__name__}: {' '.join(text.split())}"
