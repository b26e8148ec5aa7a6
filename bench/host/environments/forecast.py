"""Says what has to be built before a study can be measured, how much it takes, and how it takes less."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..machine import facts
from ..study import cpu_packages
from ..study.cpu_packages import CpuPackage
from ..study.environment import Environment
from . import cpu_builds, locks, sizes, venv


def is_built(environment: Environment, root: Path) -> bool:
    """Tell whether a venv was built from its lock and with its interpreter as they are now stated.

    Whether it is intact is not looked at.
    """
    lock = locks.find_lock(cpu_builds.lock_name(environment), root)
    try:
        manifest = json.loads((venv.place_of(environment, root) / venv.MANIFEST).read_bytes())
        stated = (manifest["layout"], manifest["lock_hash"], manifest["asked_for"])
        return bool(stated == (venv.LAYOUT, locks.lock_hash(lock), environment.interpreter))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def unbuilt(environments: Iterable[Environment], root: Path) -> list[Environment]:
    """Return the venvs that are still to be built, one of those that share an installation."""
    found: dict[Path, Environment] = {}
    for each in environments:
        if each.provider == "venv" and not is_built(each, root):
            found.setdefault(venv.place_of(each, root), each)
    return list(found.values())


def forecast(environments: Iterable[Environment], root: Path) -> Iterator[str]:
    """Give a line for each venv that is still to be built, and one for what they take together."""
    missing = unbuilt(environments, root)
    together = 0
    for environment in missing:
        lock = locks.find_lock(cpu_builds.lock_name(environment), root)
        size = sizes.size_of(lock)
        together += size.most_bytes if size else 0
        unknown = "its size is unknown" if lock.exists() else "its size is known when its lock is made"
        yield f"To build first: {environment.lock_owner}: {size or unknown}."
    if missing:
        free = shutil.disk_usage(root).free
        few = " That is not enough." if free < together else ""
        yield f"The disk has {free / 1e9:.0f} GB free.{few}"
    yield from smaller(missing, root)


def smaller(environments: Iterable[Environment], root: Path) -> Iterator[str]:
    """Say how the environments of a framework take less, where they bring CUDA that this machine cannot use."""
    if facts.gpus():
        return
    told: dict[CpuPackage, None] = {}
    for environment in environments:
        lock = locks.find_lock(cpu_builds.lock_name(environment), root)
        # A damaged lock is reported where it is installed from.
        text = lock.read_text(encoding="utf-8", errors="replace") if lock.exists() else ""
        usual = [package for package in cpu_packages.known() if f"\n{package.name}==" in text]
        if environment.cpu_index is None:
            told |= dict.fromkeys(usual)
    for package in told:
        yield (
            f"{package.product}'s usual wheels bring CUDA, and this machine has no GPU. Its CPU builds take about "
            f"{package.environment_gb:g} GB: benchmatrix's docs/running.md, Smaller environments."
        )
