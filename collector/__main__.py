"""`python -m collector`: the same as `rli collector`, without click."""

import argparse
import os
import sys
from pathlib import Path

from .run import FLAGS, main


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m collector", description="Take reports and expose them.")
    for name, says in FLAGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=says)
    parser.add_argument("--config", type=Path, help="YAML file of settings.")
    parser.add_argument("--print-config", action="store_true", help="Show each setting and where it comes from.")
    return parser


if __name__ == "__main__":
    arguments = vars(_parser().parse_args())
    sys.exit(main(arguments.pop("config"), os.environ, arguments.pop("print_config"), arguments))
