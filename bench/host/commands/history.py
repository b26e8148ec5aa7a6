"""Compares the versions of a framework in a run: each with the one before it and with a baseline."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..refusal import Refused
from ..study.patterns import cell_fits
from ..study.suggestion import unknown
from . import announce, damaged_lines, exit_codes, report_versions, run_choice, study_options
from . import run as measuring
from .folding import fold
from .study_options import PATTERN_OPTIONS

if TYPE_CHECKING:
    from bench.cell import Cell

    from ..analysis.releases import Members
    from ..storage.manifest import Manifest
    from ..study.schema import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "families",
        nargs="*",
        metavar="FAMILY",
        help="environments whose versions are compared; all of the run by default",
    )
    parser.add_argument("--measure", action="store_true", help="measure them first, with the options of a run")
    parser.add_argument("--against", metavar="VERSION", help="the version that all are compared with; the oldest one")
    run_choice.add_option(parser)
    measuring.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..reporting import history
    from ..reporting.words.files import list_files
    from ..storage import archive, run_records

    study = study_options.read_study(options)
    if not options.measure:
        _verify(options)
    code = 0
    if options.measure:
        options.environment = _named(study, options.families)
        code = measuring.run(options)
        if options.dry_run:
            return code
    profile = study.profiles.get(options.profile or study.settings.profile)
    trial = options.measure and profile is not None and profile.trial
    folder = run_choice.folder_in(archive.folder_of(options.root, study.settings.name, trial=trial), options)
    described = run_records.describe(folder)
    names = _named(study, options.families, () if described is None else described.environments)
    if described is None:
        raise Refused(f"{folder} holds no run. Measure first: add --measure to the same command.")
    left_out: list[str] = []
    stored = run_records.read(folder, described, left_out)
    damaged_lines.tell_of_run(described, left_out)
    shown = partial(_wanted, options=options, environments=names)
    made = history.make(stored, described, _members(study), against=options.against, shown=shown)
    if not made.tables:
        raise Refused(
            f"{folder} has no workload in two versions of {' or '.join(options.families) or 'a framework'}; it has "
            f"{', '.join(described.environments) or 'nothing'}. List several in an environment's table, "
            "versions = [...], and measure them; or name another run: nox -s runs lists them, --run NAME takes one."
        )
    if options.against is not None:
        known = dict.fromkeys(version for _family, version in made.history.environments.values())
        if options.against not in (*known, *made.history.environments):
            raise Refused(f"--against: {unknown('version', options.against, known)}")
    # A run that has just been measured was judged then.
    judged = None if options.fail_if is None or options.measure else _judged(described, shown, options)
    paths = made.write(folder)
    made.print(Console(), details=options.details)
    announce(fold(list_files(paths, options.root)))
    if judged is None:
        return code
    # A comparison that was made is a success, as a report is.
    options.allow_failures = True
    return exit_codes.exit_code(options, [each for each in stored if shown(each.cell)], judged, folder)


def _verify(options: argparse.Namespace) -> None:
    """Refuse what would be ignored where a stored run is read."""
    if options.fail_if is not None and options.against is not None:
        raise Refused("--fail-if judges by a baseline, not by --against. Leave that out, and give --baseline COLUMN.")
    if options.fail_if is None and options.baseline is not None:
        raise Refused(
            "--baseline is for --fail-if. --against VERSION chooses the version that others are compared with."
        )


def _judged(described: Manifest, shown: Callable[[Cell], bool], options: argparse.Namespace) -> Manifest:
    """Describe the part of a run that is shown, with the baseline that its gate has. Raises UnknownColumn."""
    part = replace(
        described,
        planned=tuple(filter(shown, described.planned)),
        excluded=tuple((cell, why) for cell, why in described.excluded if shown(cell)),
    )
    return part if options.baseline is None else part.with_baseline(options.baseline)


def _named(study: Study, families: Sequence[str], of_run: Collection[str] = ()) -> list[str]:
    """Return the environments that families stand for. Raises Refused for a name of neither.

    A stored run ``of_run`` may be one of another study: what a name means there, by the names of its environments,
    comes before what it means in the study file, unless some of what that names is in the run.
    """
    own = {**report_versions.families_of(of_run), **{name: (name,) for name in of_run}}
    known = {**study.families, **own, **dict.fromkeys(study.environments)}
    for name in families:
        if name not in known:
            raise Refused(unknown("environment", name, known))

    def members(name: str) -> Sequence[str]:
        meant = study.named([name]) if name in study.families or name in study.environments else []
        return meant if set(meant) & set(of_run) or name not in own else own[name]

    return list(dict.fromkeys(one for name in families for one in members(name)))


def _members(study: Study) -> Members:
    return {
        name: (environment.family, environment.version)
        for name, environment in study.environments.items()
        if environment.family is not None and environment.version is not None
    }


def _wanted(cell: Cell, options: argparse.Namespace, environments: Sequence[str]) -> bool:
    """Tell whether a cell is of the chosen environments and matches the chosen patterns."""
    from ..study.twin import original

    if environments and original(cell.environment) not in environments:
        return False
    return cell_fits(cell, options, PATTERN_OPTIONS)
