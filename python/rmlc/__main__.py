"""The command `rmlc`."""

from __future__ import annotations

import sys


def main() -> int:
    from . import _core

    return int(_core.command(["rmlc", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
