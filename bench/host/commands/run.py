"""Measures the selected cells of the named environments and writes the report."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused
from . import announce, exit_codes, run_choice, study_options

if TYPE_CHECKING:
    from pathlib import Path

    from ..environments import Prepared
    from ..study.environment import Environment
    from ..study.plan import Plan
    from ..study.schema import Study

#: Reasons that a message lists where nothing can be measured.
MOST_REASONS = 3
#: Columns and lines of a file or a pipe, as if it were a wide screen.
NO_TERMINAL = (120, 24)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study_options.add_environment(parser)
    study_options.add_arguments(parser)
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing an unfinished run")
    parser.add_argument(
        "--name",
        type=run_choice.label,
        metavar="NAME",
        help="a name for this run, by which runs and report --run find it",
    )
    parser.add_argument(
        "--wait",
        type=study_options.duration,
        default=0.0,
        metavar="TIME",
        help="wait at most this long, such as 10m, for other programs to end before measuring",
    )
    exit_codes.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from ..reporting.preview import preview, warnings
    from ..storage import stored_runs
    from ..storage.run_lock import exclusive
    from ..study import json_schema, location

    study = study_options.with_interpreters(study_options.read_study(options), options)
    plan = study_options.plan(study, options, environments=options.environment)
    json_schema.renew(location.locate(options.matrix, options.root), study.registry)
    if options.dry_run:
        there = stored_runs.stored_run(_folder(study, plan, options))
        announce(preview(plan, there.manifest if there else None, shutil.get_terminal_size(NO_TERMINAL).columns))
        if not plan.cells:
            raise Refused(_nothing_left(plan))
        _announce_baseline(study, plan, options)
        _announce_builds(study, plan, options)
        _announce_place(study, plan, options)
        return 0
    if not plan.cells:
        raise Refused(f"{preview(plan)}\n{_nothing_left(plan)}")
    _announce_place(study, plan, options)
    for warning in warnings(plan):
        announce(warning)
    _announce_baseline(study, plan, options)
    with exclusive(options.root):
        prepared = prepare(study, plan, options, thorough=options.verify or plan.profile.verify)
        return _measure(study, plan, prepared, options)


def _nothing_left(plan: Plan) -> str:
    """Say why a selection has no cell that can be measured, and what to do."""
    reasons = [reason for _cell, reason in plan.excluded]
    why = f", as every chosen cell is left out: {_listed(reasons)}" if reasons else ""
    choices = "--profile, --workload, --size, --precision or --mode"
    return f"Nothing is selected that can be measured{why}. Choose others with {choices}."


def _listed(reasons: Iterable[str]) -> str:
    """List the first of the distinct reasons, and count the others."""
    distinct = list(dict.fromkeys(reasons))
    more = len(distinct) - MOST_REASONS
    return "; ".join(distinct[:MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")


def _announce_baseline(study: Study, plan: Plan, options: argparse.Namespace) -> None:
    """Say which column takes the place of a baseline that is not part of the run, and why where it was chosen."""
    wanted = options.baseline or study.settings.baseline
    if plan.cells and plan.baseline != wanted:
        reasons = [reason for cell, reason in plan.excluded if cell.column == wanted]
        why = f" ({_listed(reasons)})" if reasons else ""
        announce(f"The baseline {wanted} is not part of this run{why}; {plan.baseline} takes its place.")


def _folder(study: Study, plan: Plan, options: argparse.Namespace) -> Path:
    """Return the folder of the results."""
    from ..storage import archive

    folder: Path = archive.folder_of(options.root, study.settings.name, trial=plan.profile.trial)
    return folder


def _announce_place(study: Study, plan: Plan, options: argparse.Namespace) -> None:
    """Say where results go, and what becomes of a run that is there. Raises RunIsKept.

    A run that moves a finished one says so when it does.
    """
    from ..storage import archive, stored_runs

    folder = _folder(study, plan, options)
    place, there = folder.relative_to(options.root), stored_runs.stored_run(folder)
    if there is None:
        announce(f"Results go to {place}.")
        return
    named = f"{there.id} {there.manifest.label!r}" if there.manifest.label else there.id
    unfinished = not there.manifest.finished and not options.fresh
    if unfinished and there.manifest.kept:
        announce(f"Results go to {place}, which has the unfinished run {named}; the same command continues it.")
        return
    moved = archive.destination(folder)
    assert moved is not None
    if not unfinished and not options.dry_run:
        announce(f"Results go to {place}.")
        return
    goes = f"moved to {moved.relative_to(options.root)}"
    announce(
        f"Results go to {place}. The unfinished run there, {named}, is continued if this command is the same, "
        f"else {goes}."
        if unfinished
        else f"Results go to {place}. The run there, {named}, will be {goes}."
    )


def _announce_builds(study: Study, plan: Plan, options: argparse.Namespace) -> None:
    """Say which environments this machine cannot have, and which are built first and what they take."""
    from ..environments.forecast import forecast

    lacking = announce_shortcomings(study, plan, options)
    for line in forecast([one for one in _environments(study, plan) if one.name not in lacking], options.root):
        announce(line)


def announce_shortcomings(study: Study, plan: Plan, options: argparse.Namespace) -> set[str]:
    """Say why cells will be unsupported, such as by a missing interpreter; return the names of the environments."""
    from ..environments.shortcomings import shortcoming
    from ..study.twin import original

    lacking = set()
    for one in _environments(study, plan):
        reason = shortcoming(one, options.root, study.registry)
        if reason is not None:
            count = sum(original(cell.environment) == one.name for cell in plan.cells)
            announce(f"{counted(count, 'cell')} of {one.name} will be unsupported: {reason}.")
            lacking.add(one.name)
    return lacking


def _environments(study: Study, plan: Plan) -> list[Environment]:
    """Return the environments of the plan, each once."""
    from ..study.twin import original

    return [study.environments[name] for name in dict.fromkeys(original(cell.environment) for cell in plan.cells)]


def prepare(study: Study, plan: Plan, options: argparse.Namespace, *, thorough: bool) -> dict[str, Prepared]:
    """Return the environments of the plan, built where one is missing or is not what its table and its lock say.

    ``thorough`` compares the hashes of all installed files. Raises Refused where every environment is a container and
    no engine answers.
    """
    from .. import environments
    from ..environments import forecast
    from ..environments.building import prepare_all

    chosen = _environments(study, plan)
    for line in forecast.smaller(forecast.unbuilt(chosen, options.root), options.root):
        announce(line)
    prepared = prepare_all(chosen, root=options.root, announce=announce, registry=study.registry, thorough=thorough)
    without = environments.without_engine(prepared.values())
    if without:
        raise Refused(without)
    for one in prepared.values():
        # Other reasons were announced when they were found.
        if environments.without_engine([one]):
            announce(f"{one.name}: {one.status}: {one.reason}")
    return prepared


def _measure(study: Study, plan: Plan, prepared: Mapping[str, Prepared], options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..machine import processors, quiet
    from ..measuring.study_run import StudyRun

    bound = processors.chosen(plan.threads)
    if not plan.profile.trial:
        quiet.wait_until_quiet(quiet.load_of(bound), len(bound), options.wait, announce)
    run = StudyRun(
        options.root,
        study,
        plan,
        prepared,
        Console(),
        details=options.details,
        every_figure=options.figures,
        label=options.name or "",
    )
    records = run.measure(fresh=options.fresh)
    return exit_codes.exit_code(options, records, run.manifest, run.folder)
