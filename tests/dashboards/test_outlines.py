"""What each dashboard holds, as a committed text: a review sees what a change does to it."""

from tests.outlines import GOLDEN, current


def test_outlines_are_current() -> None:
    golden = {path.stem: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt")}
    assert current() == golden, "the dashboards changed: look at the difference, then run `make docs` and commit it"
