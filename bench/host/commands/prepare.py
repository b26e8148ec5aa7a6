"""Prepares one environment; for a run, one that cannot be built is a result, not an error."""

from __future__ import annotations

import argparse

from ..study import options as study_options
from . import announce
from .exit_codes import EXIT_FAILED, EXIT_OK
from .run import add_own_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("environment")
    study_options.add_arguments(parser)
    # nox gives this session the arguments that are meant for the run.
    add_own_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from bench.record import FAILED

    from .. import environments
    from ..environments import forecast
    from ..reporting.preview import machine_warnings
    from ..storage.run_lock import exclusive
    from ..study import json_schema, location, selection
    from ..study.twin import original

    study = selection.with_interpreters(study_options.read_study(options), options)
    plan = selection.from_options(study, options, environments=[options.environment])
    json_schema.renew(location.locate(options.matrix, options.root), study.registry)
    if not plan.cells or options.dry_run:
        return EXIT_OK
    measured = {original(cell.environment) for cell in plan.cells}
    chosen = [study.environments[name] for name in study.named([options.environment]) if name in measured]
    unbuilt = [each for each in chosen if each.provider == "venv" and not forecast.is_built(each, options.root)]
    if unbuilt:
        # Said before builds that may take long; the run says it again.
        for line in (*machine_warnings(plan), *forecast.smaller(unbuilt, options.root)):
            announce(line)
    statuses = set()
    for environment in chosen:
        # A build would disturb a run, and could replace what is being measured.
        with exclusive(options.root):
            prepared = environments.prepare(
                environment,
                root=options.root,
                announce=announce,
                registry=study.registry,
                thorough=options.verify or plan.profile.verify,
            )
        statuses.add(prepared.status)
    return EXIT_FAILED if FAILED in statuses and not options.allow_failures else EXIT_OK
