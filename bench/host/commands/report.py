"""Writes the report of a study anew, from its records alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import garbage_collection
from ..refusal import Refused
from ..study import location
from . import announce, exit_codes, report_part, report_versions, run_choice, study_options
from .folding import fold

if TYPE_CHECKING:
    from ..storage.manifest import Manifest
    from ..study.claim import Claim
    from ..study.schema import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    study_options.add_report_arguments(parser)
    exit_codes.add_arguments(parser)
    chosen = parser.add_mutually_exclusive_group()
    run_choice.add_option(chosen)
    chosen.add_argument(
        "folder", nargs="?", type=location.path_option, help="a folder with records; the study's by default"
    )
    parser.add_argument(
        "--claims",
        type=location.path_option,
        metavar="FILE",
        help="answer the claims of this study file; by default those of the study that was measured",
    )
    report_part.add_arguments(parser)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


@garbage_collection.paused()
def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..reporting import outputs, report
    from ..reporting.renderers import terminal
    from ..reporting.words.files import PAGE, list_files, name_files
    from ..storage import archive, manifest, run_records, stored_runs

    study = study_options.read_study(options)
    named = _named_claims(options)
    folder = options.folder or run_choice.folder_in(archive.folder_of(options.root, study.settings.name), options)
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is not a folder of a run. Name a folder with {manifest.RUN} and records.")
    described = run_records.describe(folder)
    if described is None and options.folder is not None:
        said = stored_runs.no_run(folder)
        raise Refused(f"{said} Name a folder with {manifest.RUN} and records; nox -s runs lists runs.")
    if described is None:
        raise Refused(f"{folder} holds no run. Measure first: nox -s bench-{study.settings.default[0]}")
    claims = _claims_of(described, study, options) if named is None else named
    if options.baseline is not None:
        described = described.with_baseline(options.baseline)
    if options.ratios is not None:
        described = replace(described, study=replace(described.study, ratios=options.ratios))
    left_out: list[str] = []
    records = run_records.read(folder, described, left_out)
    described = replace(described, damaged=tuple(left_out))
    part = report_part.of(options, described, records)
    to = report_part.folder_of(options, folder, part)
    chosen_by = report_part.chosen_by(options)
    if part is None:
        made = report.make(records, described, folder=folder, claims=claims.values(), chosen_by=chosen_by)
    else:
        described = replace(described, hidden_cells=part.hidden)
        made = report.make(records, described, folder=folder, shown=part.shown, chosen_by=chosen_by)
    extra, problems = outputs.load(map(Path, study.registry.output_files))
    written = made.write(to, extra, every_figure=options.figures)
    written.problems += problems
    versions = report_versions.write(records, described, to) if part is None else []
    console = Console()
    made.print(console, details=options.details)
    terminal.say_apart(console, name_files(written.paths, options.root))
    if versions:
        announce(fold(list_files(versions, options.root)))
    if options.open:
        announce(_opened(to / PAGE))
    for problem in written.problems:
        print(f"Not written: {problem}", file=sys.stderr)
    written.raise_refused()
    if written.problems:
        return exit_codes.EXIT_FAILED
    # A report that was written is a success, whatever the cells did; only a gate says otherwise.
    options.allow_failures = True
    return exit_codes.exit_code(options, records, described, folder)


def _named_claims(options: argparse.Namespace) -> Mapping[str, Claim] | None:
    """Return the claims of the study file that ``--claims`` names; None without that option."""
    if options.claims is None:
        return None
    if not (options.root / options.claims).is_file():
        raise Refused(f"--claims: {options.claims} is not a file. Name a study file with tables [claims.NAME].")
    return study_options.read_file(options.claims, options).claims


def _claims_of(described: Manifest, study: Study, options: argparse.Namespace) -> Mapping[str, Claim]:
    """Return the claims of the study that was measured, which may be another one than the project's.

    What a run says of its file is data: the file counts where it is in the project and has the study of that name.
    """
    if described.study.name == study.settings.name or location.is_named(options.matrix):
        return study.claims
    root = options.root.resolve()
    file = (root / described.study.file).resolve()
    if not (file.is_relative_to(root) and file.is_file()):
        return study.claims
    measured = study_options.read_file(file, options)
    return measured.claims if measured.settings.name == described.study.name else study.claims


def _opened(page: Path) -> str:
    """Open a page in the person's browser; return a line that says whether it is open, with its address."""
    import webbrowser

    address = page.resolve().as_uri()
    if webbrowser.open(address):
        return f"Opened {address}"
    return f"No browser could be started here. Open this address, or copy the file, which needs no other: {address}"
