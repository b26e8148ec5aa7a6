"""Removes environments that were built; each is built again when it is needed."""

from __future__ import annotations

import argparse

from ..study import location
from . import announce, study_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    parser.add_argument("names", nargs="+", help="environments, or families of versions")
    parser.add_argument(
        "--cached",
        action="store_true",
        help="also remove their packages from the installer's cache, so that the next build downloads them",
    )


def run(options: argparse.Namespace) -> int:
    from ..environments import outcome, removal
    from ..refusal import Refused
    from ..storage.run_lock import exclusive
    from ..study.suggestion import unknown

    study = study_options.read_study(options)
    names = study.named(options.names)
    for name in names:
        if name not in study.environments:
            raise Refused(unknown("environment", name, [*study.environments, *study.families]))
    # A run must not lose what it measures.
    with exclusive(options.root):
        for name in names:
            if study.environments[name].provider == "container":
                announce(f"{name}: a container, which has an image: nox -s images -- prune")
            elif (shared := study.environments[name].lock) is not None:
                announce(f"{name}: has the installation of {shared}: name that one")
            elif not removal.is_there(name, options.root):
                announce(f"{name}: not built")
            else:
                size_bytes = removal.size_bytes(name, options.root)
                removal.remove(name, options.root, announce, cached=options.cached)
                for other in study.environments.values():
                    if other.provider == "venv" and other.lock == name:
                        outcome.outcome_path(other.name, options.root).unlink(missing_ok=True)
                announce(f"{name}: removed" + (f", which frees {size_bytes / 1e9:.2f} GB" if size_bytes else ""))
    return 0
