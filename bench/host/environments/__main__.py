"""Prepares the environment in which the worker ring is tested on its oldest Python, and prints that Python's path."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from bench.record import OK

from .. import project
from . import Preparation, attempt, locks

ROOT = project.PACKAGE.parent


@dataclass(frozen=True)
class Own:
    """Describes an environment of benchmatrix itself in the way a study describes others."""

    python: str
    requirements: tuple[str, ...]
    name: str = "worker"
    framework: str = "numpy"
    provider: str = "venv"
    interpreter: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    driver: str | None = None
    allow_source: bool = False
    build_requirements: tuple[str, ...] = ()
    cpu_index: str | None = None
    lock: str | None = None
    preload: tuple[str, ...] = ()


def main() -> int:
    python, requirements = locks.own(ROOT)["worker"]
    prepared = attempt(Own(python, requirements), Preparation(ROOT, _announce))
    if prepared.status != OK:
        _announce(f"{prepared.name}: {prepared.status}: {prepared.reason}")
        return 1
    print(*prepared.command)
    return 0


def _announce(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
