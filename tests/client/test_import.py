"""The module as it is imported: light, and of the standard library only."""

import sys
from pathlib import Path

import rl_insight
from tests.client import scripts

HEAVY = ("http.client", "ssl", "json", "zlib", "logging", "asyncio", "inspect", "dataclasses", "urllib.parse", "socket")


def test_everything_public_is_there() -> None:
    for name in rl_insight.__all__:
        assert getattr(rl_insight, name)


def test_importing_it_imports_little_and_nothing_from_elsewhere() -> None:
    program = "import sys; before = set(sys.modules); import rl_insight; print(*sorted(set(sys.modules) - before))"
    code, out, err = scripts.run("", f"import sys; sys.path.append({str(scripts.ROOT)!r}); {program}", PYTHONPATH="")
    assert (code, err) == (0, "")
    imported = set(out.split())
    assert not imported & set(HEAVY)
    elsewhere = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert elsewhere == {"rl_insight"}


def test_its_sources_import_the_standard_library_only() -> None:
    import ast

    folder = Path(rl_insight.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.partition(".")[0] in {*sys.stdlib_module_names, "rl_insight"}, f"{file.name}: {name}"
