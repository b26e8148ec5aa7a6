"""Says where things lie: in the project, a user's folder, or in the package ``bench`` and its data.

A project holds a study file, ``locks/``, ``reports/`` and ``.nox/``, where environments and other state are kept. The
data of the package (Dockerfiles, the default study and its locks, a skeleton of a project) lie beside ``bench/`` in a
checkout, and in ``bench/data`` where a wheel was installed. A checkout is a project, too.

nox imports this module, so it needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
PACKED = PACKAGE / "data"
STATE = ".nox"
#: Results of runs, and the histories of summaries that are committed.
REPORTS, SERIES = "reports", "series"
#: Folders of the state that several rooms use.
COMPILE_CACHES, INPUT_DATA, REFERENCES = "compile-caches", "data", "references"
#: How a person called nox, such as ``python3 noxfile.py``; not set where it was called by its name.
CALLED_AS = "BENCHMATRIX_CALLED_AS"


def data(name: str) -> Path:
    """Return the path of a file or folder that comes with the package, such as ``locks/host.txt``."""
    return (PACKED if PACKED.is_dir() else PACKAGE.parent) / name


def is_installed() -> bool:
    """Tell whether the package comes from a wheel; otherwise it is part of a checkout."""
    return PACKED.is_dir()


def is_checkout(root: Path) -> bool:
    """Tell whether the project at ``root`` is the checkout that the package belongs to."""
    return not is_installed() and root.resolve() == PACKAGE.parent


def as_called(text: str) -> str:
    """Write a message's calls of nox as the person called it, who may have no command of that name."""
    called = os.environ.get(CALLED_AS)
    return text.replace("nox -s ", f"{called} -s ") if called else text


def code_folder(root: Path) -> Path:
    """Return the folder in which workers start; it holds a link to ``bench`` and nothing else.

    Python imports from the folder in which it starts. In a checkout, or among installed packages, a worker would find
    modules that do not belong to its environment.
    """
    folder = root / STATE / "code"
    link = folder / PACKAGE.name
    if not _leads_to_package(link):
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{PACKAGE.name}.partial-{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        partial.symlink_to(PACKAGE)
        os.replace(partial, link)
    return folder


def _leads_to_package(link: Path) -> bool:
    try:
        return os.readlink(link) == str(PACKAGE)
    except OSError:
        return False
