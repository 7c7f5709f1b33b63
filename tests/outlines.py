"""The golden outlines: `python -m tests.outlines` writes them anew after a wanted change."""

from pathlib import Path

from dashboards_src.dashboards import FOLDER
from generator.outline import outline
from generator.sources import discover

GOLDEN = Path(__file__).parent / "golden"


def current() -> dict[str, str]:
    """The outline of each dashboard as it is built now, by name."""
    return {source.name: outline(source.build()) for source in discover(FOLDER)}


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for stale in GOLDEN.glob("*.txt"):
        stale.unlink()
    for name, text in current().items():
        (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
