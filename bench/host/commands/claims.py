"""Answers the claims of studies from the results of runs, and writes the answers into a page of Markdown."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..refusal import Refused, naming
from ..study import location
from . import announce, damaged_lines, exit_codes, run_choice, study_options

if TYPE_CHECKING:
    from ..reporting.tables.claims_of_runs import AnswersOfRun
    from ..reporting.tables.table import Table
    from ..study.schema import Study

#: Where the table goes in a page.
BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"
STUDIES = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    text = "a folder with records, or a run's name; the study's last run by default. A claim gets a line for each run"
    parser.add_argument("runs", metavar="RUN", nargs="*", help=f"{text} that answers it")
    parser.add_argument(
        "--write",
        type=location.path_option,
        metavar="FILE",
        help=f"put the table into this page of Markdown, between {BEGIN} and {END}",
    )
    parser.add_argument("--language", metavar="NAME", help="the language of the table, such as pt_BR; en by default")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..reporting.renderers import terminal
    from ..reporting.tables import claims_of_runs
    from ..storage import archive

    studies = find_studies(options)
    named = [run_choice.locate(options, name) for name in options.runs]
    folders = named or [archive.folder_of(options.root, study.settings.name) for study in studies]
    answered = [_answer(studies, folder) for folder in dict.fromkeys(folders)]
    table = claims_of_runs.show([list(of_study) for of_study in zip(*answered, strict=True)])
    terminal.render(Console(), table, file=str(options.write or ""))
    if options.write is not None:
        _write(options.write, table)
        announce(f"Claims: {options.write}")
    return exit_codes.EXIT_OK


def find_studies(options: argparse.Namespace) -> list[Study]:
    """Return the study that is named, or that of the project; where that has no claims, all of ``studies/`` that have.

    Raises Refused where no study has a claim.
    """
    study = study_options.read_study(options)
    found = [study] if study.claims else []
    if not found and not location.is_named(options.matrix):
        files = sorted((options.root / STUDIES).glob("*.toml"))
        read = (study_options.read_file(file, options) for file in files if b"[claims." in file.read_bytes())
        found = [one for one in read if one.claims]
    if not found:
        raise Refused(
            f"{location.shown(location.locate(options.matrix, options.root))} has no claims. Add tables "
            "[claims.NAME] to it, or name a study that has some with --matrix FILE."
        )
    return found


def _answer(studies: list[Study], folder: Path) -> list[AnswersOfRun]:
    """Answer the claims of every study from the run in ``folder``. Raises Refused where it holds none."""
    from ..analysis.claims import answer
    from ..analysis.run_analysis import analyse
    from ..reporting.tables.claims_of_runs import AnswersOfRun
    from ..reporting.words.labels import labels_of
    from ..storage import run_records, stored_runs

    described = run_records.describe(folder)
    if described is None:
        raise Refused(
            f"{stored_runs.no_run(folder)} Name a folder with records, nox -s claims -- FOLDER, or measure its study."
        )
    if described.profile.trial:
        raise Refused(f"{folder} is a trial: its times mean nothing. Name a run of another profile.")
    left_out: list[str] = []
    analysis = analyse(run_records.read(folder, described, left_out), described)
    damaged_lines.tell_of_run(described, left_out)
    labels = labels_of(analysis.results)
    name = described.label or folder.resolve().name
    every = [answer(study.claims.values(), analysis, described) for study in studies]
    return [AnswersOfRun(name, answers, labels, described.finished) for answers in every]


def _write(path: Path, table: Table) -> None:
    """Put the table into a page. Raises Refused where it has no place for it."""
    from ..reporting.renderers import markdown
    from ..setup.staging import write_whole

    with naming(path):
        if path.exists() and not path.is_file():
            # A pipe or a device may never come to its end.
            raise Refused(f"{path} is no page of Markdown: it is not a regular file. Name another one.")
        try:
            page = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"{path} is no page of Markdown: {error}. Save it as UTF-8, or name another one.") from None
        text = "\n\n".join(markdown.render(table).split("\n\n")[1:])
        made, places = re.subn(
            f"{BEGIN}.*?{END}", lambda _found: f"{BEGIN}\n{text}{END}", page, count=1, flags=re.DOTALL
        )
        if not places:
            raise Refused(f"{path} has no place for the table: write {BEGIN} and {END} where it shall be.")
        write_whole(path, made)
