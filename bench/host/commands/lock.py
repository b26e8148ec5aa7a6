"""Renews the locks of the named environments, or of all."""

from __future__ import annotations

import argparse

from ..study import location
from . import announce, study_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    parser.add_argument("names", nargs="*", help="environments, or families of versions; all by default")


def run(options: argparse.Namespace) -> int:
    from ..environments import index_releases, locks
    from ..study import sources

    path = location.locate(options.matrix, options.root)
    tables = location.read(path)
    registry, _problems = sources.find(tables.get("study"), path.parent)
    index_releases.renew(tables, options.names, registry, root=options.root, announce=announce)
    # It reports the problems of the file, too.
    study = study_options.read_study(options)
    locks.renew(study.environments, study.named(options.names), root=options.root, announce=announce)
    return 0
