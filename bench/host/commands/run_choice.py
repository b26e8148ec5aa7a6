"""Defines how a command names a stored run, and finds it."""

from __future__ import annotations

import argparse
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from ..project import SERIES
from ..refusal import Refused
from . import damaged_lines, study_options

if TYPE_CHECKING:
    from ..storage.run_summary import RunFacts, RunSummary

LONGEST_LABEL = 40
#: What a label may have besides letters and digits. None of it means anything to a shell, a table or a page.
OTHER_CHARACTERS = " ._+:,()-"


def label(text: str) -> str:
    """Check a name that a person gives a run. Raises ArgumentTypeError, as argparse expects."""
    allowed = all(c in OTHER_CHARACTERS or unicodedata.category(c)[0] in "LN" for c in text)
    if not text or not allowed or not text[0].isalnum() or text != text.strip() or len(text) > LONGEST_LABEL:
        raise argparse.ArgumentTypeError(
            f"{text[:100]!r} cannot name a run; give at most {LONGEST_LABEL} letters, digits, spaces "
            f"and any of {OTHER_CHARACTERS.strip()}, beginning with a letter or a digit"
        )
    return text


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the run that a command is about; ``find`` takes its value."""
    text = "a folder with records, a file of a series, or a run's name; the study's last run by default"
    parser.add_argument("run", metavar="RUN", nargs="?", help=text)


def find(options: argparse.Namespace, name: str | None) -> RunSummary:
    """Return the run that a folder, a file of a series, or a name means; the last one of None. Raises Refused."""
    return load(locate(options, name))


def locate(options: argparse.Namespace, name: str | None) -> Path:
    """Return the path of the run that ``find`` would return. Raises Refused."""
    from ..storage import archive, stored_runs

    if name and (options.root / name).exists():
        return Path(options.root, name)
    if name and "/" in name:
        said = stored_runs.no_run(Path(name))
        raise Refused(f"{said} Name a folder with records, or a run that nox -s runs lists.")
    study = study_options.read_study(options).settings.name
    folder = archive.folder_of(options.root, study)
    if name is None:
        return folder
    if not name:
        # It would be the folder of the project, or that of the history.
        return stored_runs.find(folder, name).folder
    # Most runs have the name of their folder; all descriptions are read only where none has.
    for place in (folder / archive.HISTORY / name, Path(options.root, SERIES, study, f"{name}.jsonl")):
        if place.exists():
            return place
    return stored_runs.find(folder, name).folder


def load(path: Path) -> RunSummary:
    """Return the summary of the run at ``path``; how many of its lines were left out is printed with their places."""
    from ..analysis import summaries

    summary = summaries.load(path)
    damaged_lines.tell(summary.facts.name, summary.damaged)
    return summary


def describe(facts: RunFacts) -> str:
    """Name a run, when it was, and how it was measured."""
    return f"{facts.name}  {facts.started[:16]}  {facts.study}, profile {facts.profile}"


def minute(started: str) -> str:
    """Write to the minute when a run started: its clock was that of UTC."""
    return f"{started[:16]} UTC"


def add_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that names an earlier run; ``folder_in`` takes its value."""
    parser.add_argument(
        "--run", metavar="RUN", help="an earlier run, by its name or what nox -s runs lists, or its folder"
    )


def folder_in(folder: Path, options: argparse.Namespace) -> Path:
    """Return the folder of the run that ``--run`` names among those below ``folder``, itself without the option.

    It may also be a folder with records, seen from the project. Raises Refused where there is no such run.
    """
    from ..storage import stored_runs
    from ..storage.manifest import RUN

    if options.run is None:
        return folder
    place = Path(options.root, options.run)
    if options.run and (place / RUN).is_file():
        return place
    if "/" in options.run:
        said = stored_runs.no_run(place)
        raise Refused(f"{said} Name a folder with {RUN} and records, or a run that nox -s runs lists.")
    return stored_runs.find(folder, options.run).folder
