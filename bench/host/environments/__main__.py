"""Prepares the environment in which the worker ring is tested on its oldest Python, and prints that Python's path."""

from __future__ import annotations

import sys

from bench.record import OK

from .. import project
from . import Preparation, attempt, locks

ROOT = project.PACKAGE.parent


def main() -> int:
    prepared = attempt(locks.own_environment("worker", ROOT), Preparation(ROOT, _announce))
    if prepared.status != OK:
        _announce(f"{prepared.name}: {prepared.status}: {prepared.reason}")
        return 1
    print(*prepared.command)
    return 0


def _announce(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
