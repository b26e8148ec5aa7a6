"""Prepares environments of the study without measuring them."""

from __future__ import annotations

import argparse

from . import announce, study_options
from .exit_codes import EXIT_FAILED, EXIT_OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("environments", nargs="+", metavar="ENVIRONMENT")
    study_options.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from bench.record import FAILED

    from ..storage.run_lock import exclusive
    from .run import prepare

    study = study_options.with_interpreters(study_options.read_study(options), options)
    plan = study_options.plan(study, options, environments=options.environments)
    if options.dry_run:
        return EXIT_OK
    # A build would disturb a run, and could replace what is being measured.
    with exclusive(options.root):
        prepared = prepare(study, plan, options, thorough=options.verify or plan.profile.verify)
    failed = [outcome.name for outcome in prepared.values() if outcome.status == FAILED]
    if failed:
        announce(f"Could not be built: {', '.join(failed)}; the reasons are above.")
    return EXIT_FAILED if failed else EXIT_OK
