"""Writes the report of a study anew, from its records alone."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from ..refusal import Refused
from ..study import location
from ..study import options as study_options
from . import announce, exit_codes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    study_options.add_report_arguments(parser)
    exit_codes.add_arguments(parser)
    parser.add_argument("folder", nargs="?", type=Path, help="a folder with records; the study's by default")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..reporting import outputs, report
    from ..reporting.words.files import files_line
    from ..storage import journal, manifest

    study = study_options.read_study(options)
    folder = options.folder or options.root / "reports" / study.settings.name
    damaged: list[str] = []
    described = manifest.read(folder, damaged)
    if damaged:
        raise Refused(
            f"{folder / manifest.RUN} is damaged: it does not describe a run: {damaged[0]}. Restore it from a copy; "
            "records.jsonl beside it holds what was measured."
        )
    if described is None:
        raise Refused(f"{folder} holds no run. Measure first: nox -s bench-{study.settings.default[0]}")
    if options.baseline is not None:
        described = described.with_baseline(options.baseline)
    left_out: list[str] = []
    records = journal.read(folder, left_out)
    made = report.make(records, replace(described, damaged=tuple(left_out)))
    extra, problems = outputs.load(map(Path, study.registry.output_files))
    written = made.write(folder, extra)
    written.problems += problems
    made.print(Console(), details=options.details)
    announce(files_line(written.paths, options.root))
    for problem in written.problems:
        print(f"Not written: {problem}", file=sys.stderr)
    written.raise_refused()
    if written.problems:
        return exit_codes.EXIT_FAILED
    # A report that was written is a success, whatever the cells did; only a gate says otherwise.
    options.allow_failures = True
    return exit_codes.exit_code(options, records, described)
