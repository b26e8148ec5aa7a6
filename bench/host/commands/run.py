"""Measures the selected cells of the named environments and writes the report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..refusal import Refused
from ..study import options as study_options
from . import announce, exit_codes

if TYPE_CHECKING:
    from ..environments import Prepared
    from ..study.plan import Plan
    from ..study.schema import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--environment", action="append", default=[], metavar="NAME")
    study_options.add_arguments(parser)
    add_own_arguments(parser)


def add_own_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that only a run follows; ``prepare`` gets them from nox, too."""
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing an unfinished run")
    parser.add_argument(
        "--wait",
        type=study_options.duration,
        default=0.0,
        metavar="TIME",
        help="wait at most this long, such as 10m, for other programs to end before measuring",
    )
    exit_codes.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from ..reporting.preview import preview
    from ..storage.run_lock import exclusive
    from ..study import selection

    study = selection.with_interpreters(study_options.read_study(options), options)
    plan = selection.from_options(study, options, environments=options.environment or list(study.settings.default))
    if options.dry_run:
        announce(preview(plan))
        return 0
    if not plan.cells:
        raise Refused(f"{preview(plan)}\nNothing is selected that can be measured; loosen the selection.")
    with exclusive(options.root):
        return _measure(study, plan, _prepare(study, plan, options), options)


def _prepare(study: Study, plan: Plan, options: argparse.Namespace) -> Mapping[str, Prepared]:
    """Return the environments of the plan, prepared where one is not what its table and its lock say. Raises Refused.

    The study file may have changed since a session prepared them, and a bare ``run`` comes after no such session.
    """
    from bench.record import OK

    from .. import environments
    from ..study.twin import original

    prepared = {
        name: environments.current(
            study.environments[name],
            root=options.root,
            announce=announce,
            registry=study.registry,
            thorough=options.verify or plan.profile.verify,
        )
        for name in dict.fromkeys(original(cell.environment) for cell in plan.cells)
    }
    without = environments.without_engine(prepared.values())
    if without:
        raise Refused(without)
    for outcome in prepared.values():
        if outcome.status != OK:
            announce(f"{outcome.name}: {outcome.status}: {outcome.reason}")
    return prepared


def _measure(study: Study, plan: Plan, prepared: Mapping[str, Prepared], options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..machine import processors, quiet
    from ..measuring.study_run import StudyRun

    wanted = options.baseline or study.settings.baseline
    if plan.baseline != wanted:
        announce(f"The baseline {wanted} is not part of this run; {plan.baseline} takes its place.")
    bound = processors.chosen(plan.threads)
    quiet.wait_until_quiet(quiet.looking_at(bound), len(bound), options.wait, announce)
    run = StudyRun(options.root, study, plan, prepared, Console(), details=options.details)
    records = run.measure(fresh=options.fresh)
    return exit_codes.exit_code(options, records, run.manifest)
