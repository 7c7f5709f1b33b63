"""`python -m benchmarks [NAME …]` runs the benchmarks, all or those named, one after another."""

import subprocess
import sys
from pathlib import Path

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def main() -> int:
    """Runs each as a program of its own, so that none warms up or weighs down another."""
    wanted = sys.argv[1:] or NAMES
    unknown = sorted(set(wanted) - set(NAMES))
    if unknown:
        print(f"benchmarks: none is called {unknown[0]!r}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    codes = [subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode for name in wanted]
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
