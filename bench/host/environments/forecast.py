"""Says what has to be built before a study can be measured, how much it takes, and how PyTorch takes less."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..machine import facts
from . import cpu_builds, locks, sizes, venv
from .buildable import Buildable, lock_owner

#: What an environment with PyTorch's CPU build takes on the disk: 0.94 GB were measured with PyTorch 2.13.
CPU_BUILD = "about 1 GB"


def is_built(environment: Buildable, root: Path) -> bool:
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


def unbuilt(environments: Iterable[Buildable], root: Path) -> list[Buildable]:
    """Return the venvs that are still to be built, one of those that share an installation."""
    found: dict[Path, Buildable] = {}
    for each in environments:
        if each.provider == "venv" and not is_built(each, root):
            found.setdefault(venv.place_of(each, root), each)
    return list(found.values())


def forecast(environments: Iterable[Buildable], root: Path) -> Iterator[str]:
    """Give a line for each venv that is still to be built, and one for what they take together."""
    missing = unbuilt(environments, root)
    together = 0
    for environment in missing:
        lock = locks.find_lock(cpu_builds.lock_name(environment), root)
        size = sizes.size_of(lock)
        together += size.most_bytes if size else 0
        unknown = "its size is unknown" if lock.exists() else "its size is known when its lock is made"
        yield f"To build first: {lock_owner(environment)}: {size or unknown}."
    if missing:
        free = shutil.disk_usage(root).free
        few = " That is not enough." if free < together else ""
        yield f"The disk has {free / 1e9:.0f} GB free.{few}"
    yield from smaller(missing, root)


def smaller(environments: Iterable[Buildable], root: Path) -> Iterator[str]:
    """Say how PyTorch's environments take less, where they bring CUDA that this machine cannot use."""
    if facts.gpus():
        return
    for environment in environments:
        lock = locks.find_lock(cpu_builds.lock_name(environment), root)
        # A damaged lock is reported where it is installed from.
        text = lock.read_text(encoding="utf-8", errors="replace") if lock.exists() else ""
        if environment.cpu_index is None and f"\n{cpu_builds.PACKAGE}==" in text:
            yield (
                f"PyTorch's usual wheels bring CUDA, and this machine has no GPU. Its CPU builds take {CPU_BUILD}: "
                "docs/running.md, Smaller environments."
            )
            return
