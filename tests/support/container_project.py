"""Makes a project of its own for the tests of containers, beside the checkout, on the engine's base image."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bench.host.containers import image, leftovers
from bench.host.containers.engine import Engine

REPOSITORY = Path(__file__).resolve().parents[2]
#: What docker/make-base makes.
BASE = os.environ.get("BENCHMATRIX_BASE", "benchmatrix-base:bookworm")


def forget(engine: Engine, project: Path) -> None:
    """Remove everything of a project from the engine."""
    leftovers.sweep(engine, project)
    for each in image.images(engine, project):
        image.remove(engine, each)
    leftovers.drop_parts(engine, project)


def make_project(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("bench", "pyproject.toml"):
        if not (folder / name).exists():
            (folder / name).symlink_to(REPOSITORY / name)
    (folder / "locks").mkdir(exist_ok=True)
    for lock in (REPOSITORY / "locks").glob("*.txt"):
        shutil.copy(lock, folder / "locks")
    return folder
