"""Who may import whom: the folders' table, held against the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MAY_IMPORT = {
    "rl_insight": set(),
    "collector": set(),
    "generator": set(),
    "dashboards_src": {"generator"},
    "provisioning": {"generator", "dashboards_src"},
    "diagnosis": {"dashboards_src"},
    "simulator": {"rl_insight"},
    "rli": {
        "rl_insight",
        "collector",
        "generator",
        "dashboards_src",
        "provisioning",
        "diagnosis",
        "simulator",
    },
}


def imported(path: Path) -> Iterator[str]:
    """The top-level packages that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_only_what_the_map_allows(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    forbidden = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in imported(path)
        if (name in MAY_IMPORT or name in {"tests", "benchmarks"}) and name not in MAY_IMPORT[package] | {package}
    }
    assert not forbidden


def test_every_package_of_the_tree_is_on_the_map() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert packages == set(MAY_IMPORT)


def test_the_client_needs_nothing_but_the_standard_library() -> None:
    import sys

    names = {name for path in (ROOT / "rl_insight").rglob("*.py") for name in imported(path)}
    assert names <= sys.stdlib_module_names | {"rl_insight"}
