"""Finds the release of a framework with which a workload became slower, and what else may have made it so."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused
from . import announce, bisect_report, exit_codes, study_options
from .folding import fold
from .run import announce_shortcomings

if TYPE_CHECKING:
    from bench.cell import Cell

    from ..measuring.bisection_run import Bisected
    from ..study.plan import Plan
    from ..study.schema import Study

#: Releases that a message names where too few can be measured.
MOST_LEFT_OUT = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", metavar="FAMILY", help="the table of environments that lists versions")
    parser.add_argument("--faster", action="store_true", help="look for a release that became faster")
    parser.add_argument(
        "--keep",
        type=study_options.size,
        metavar="SIZE",
        help="remove environments of the family that are not needed where all of them exceed this, such as 20GiB",
    )
    parser.add_argument(
        "--no-attribution", action="store_true", help="do not exchange Python, NumPy and the rest one by one"
    )
    study_options.add_selection_arguments(parser)
    parser.add_argument(
        "--budget",
        type=study_options.duration,
        metavar="TIME",
        help="time for measuring, such as 10m or 2h; then the bisection ends with what is known, and the same command "
        "continues it",
    )
    # Of a table with a baseline, which a bisection does not make.
    parser.set_defaults(strict=False, largest_batch=None, baseline=None, ratios=None)


def run(options: argparse.Namespace) -> int:
    from ..interrupts import interrupted_by_signals
    from ..storage.run_lock import exclusive

    study = study_options.with_interpreters(study_options.read_study(options), options)
    plan, cells = releases(study, options)
    for cell, why in plan.excluded:
        announce(f"Left out: {cell.environment}: {why}")
    if options.dry_run:
        announce(f"{len(cells)} releases: {', '.join(cell.environment for cell in cells)}")
        announce(f"{cells[0].mode} {cells[0].row}, two releases at a time; the first two are the ends")
        announce_shortcomings(study, replace(plan, cells=tuple(cells)), options)
        return exit_codes.EXIT_OK
    with exclusive(options.root), interrupted_by_signals():
        found = measure(study, plan, cells, options)
    announce("")
    announce("\n".join(map(fold, bisect_report.report(found, cells, faster=options.faster))))
    return exit_codes.EXIT_OK if len(found.releases) > 1 else exit_codes.EXIT_FAILED


def releases(study: Study, options: argparse.Namespace) -> tuple[Plan, list[Cell]]:
    """Return the cell of each release of the family, the oldest first. Raises Refused where rows are several."""
    from ..study.suggestion import unknown
    from ..study.twin import is_twin

    members = [name for name, one in study.environments.items() if one.family == options.family]
    if not members:
        families = list(dict.fromkeys(one.family for one in study.environments.values() if one.family))
        problem = unknown("family", options.family, families) if families else "no table of this study lists versions."
        raise Refused(f"{options.family}: {problem} A family is a table of environments with versions = […].")
    plan = study_options.plan(study, options, environments=members)
    if plan.profile.trial:
        others = [name for name, one in study.profiles.items() if not one.trial]
        remedy = (
            f"Choose another one with --profile: {', '.join(others)}" if others else "Add a profile to the study file"
        )
        raise Refused(f"The profile {plan.profile.name!r} makes trials, whose times mean nothing. {remedy}.")
    cells = [cell for cell in plan.cells if not is_twin(cell)]
    kinds = list(dict.fromkeys((cell.mode, cell.row, cell.threads) for cell in cells))
    if len(kinds) > 1:
        shown = ", ".join(f"{mode} {row}" for mode, row, _ in kinds[:5])
        raise Refused(
            f"A bisection has one workload and one mode; chosen are {len(kinds)}: {shown}"
            f"{' …' if len(kinds) > 5 else ''}. Choose with --workload, --mode, --size, --precision and --threads."
        )
    if len(cells) < 2:
        known = f"{options.family} has {counted(len(cells), 'release')} that can be measured so"
        raise Refused(f"{known}; a bisection needs two. {_left_out(plan)}")
    return plan, cells


def _left_out(plan: Plan) -> str:
    """Say why releases are left out, or how to have more."""
    if not plan.excluded:
        return "Add versions to its table in the study file."
    named = "; ".join(f"{cell.environment}: {why}" for cell, why in plan.excluded[:MOST_LEFT_OUT])
    more = len(plan.excluded) - MOST_LEFT_OUT
    return f"Left out: {named}{f'; and {more} more' if more > 0 else ''}. Choose another --mode or --workload."


def measure(study: Study, plan: Plan, cells: Sequence[Cell], options: argparse.Namespace) -> Bisected:
    """Bisect the releases, and attribute a change that was found; what was measured before is continued."""
    from rich.console import Console

    from .. import environments
    from ..environments import removal
    from ..measuring.bisection_run import BisectionRun
    from ..measuring.pair_measurement import PairMeasurement
    from ..storage import archive
    from ..storage.file_names import slug
    from ..storage.moves import BISECTIONS

    folder = archive.folder_of(options.root, study.settings.name) / BISECTIONS
    first = cells[0]
    # Verdicts were validated with a process for every cell.
    chosen = {"workers": "own", "peaks": False, "twin": False, "trial": False, "compile_cache": "kept"}
    profile = plan.profile.model_copy(update=chosen)
    measurement = PairMeasurement(
        options.root, folder / slug(f"{options.family}-{first.mode}-{first.row}"), study, profile, plan.seed, Console()
    )

    def prune(needed: Sequence[str]) -> None:
        if options.keep is not None:
            built = measured.measurement.study.environments
            family = [name for name, one in built.items() if one.family == options.family]
            removal.prune(family, needed, options.keep, options.root, announce)

    measured = BisectionRun(
        measurement,
        cells,
        lambda environment: environments.prepare(
            environment,
            root=options.root,
            announce=announce,
            registry=study.registry,
            thorough=options.verify or profile.verify,
        ),
        prune,
        announce,
        options.faster,
        options.budget,
    )
    found = measured.bisect()
    return found if options.no_attribution else measured.attribute(found)
