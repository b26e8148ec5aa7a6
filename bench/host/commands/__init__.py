"""Lists the commands of ``python -m bench.host``; each is a module of this package, beside a few that they share.

A module is imported only when its command is called, and imports what is heavy (SciPy, pydantic, rich, the engine's
SDK) only when the command runs. ``--help`` is therefore quick, and ``init`` needs the standard library alone.
"""

from __future__ import annotations

import importlib
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Protocol, cast

from ..project import as_called
from ..refusal import Refused, harmless, visible

#: {command: what it does}, in the order of --help.
SUMMARIES = {
    "prepare": "Build environments of the study.",
    "run": "Measure the study and write its report.",
    "train": "Train to a result: whole epochs on real data, accuracy, loss and time over several seeds.",
    "report": "Redo the report from the records alone.",
    "claims": "Answer the claims of studies from the results of runs: supported, refuted or open.",
    "history": "Compare the versions of a framework: each with the one before it and with a baseline.",
    "runs": "List the runs of the study; name, keep or remove one.",
    "show": "List the cells of a run by their speed-up over the baseline.",
    "rank": "Rank the columns of a run over chosen rows.",
    "compare": "Compare two runs: two machines, or before and after a change.",
    "series": "Add a run to a history, and show when and by how much cells changed.",
    "bisect": "Find the release of a framework with which a workload became slower.",
    "query": "Answer a question in SQL about the results.",
    "validate": "Prove the method with comparisons whose answer is known.",
    "images": "Build, list, export or prune the images of this project.",
    "remove": "Remove environments that were built.",
    "lock": "Renew lock files.",
    "schema": "Write the JSON Schema of study files.",
    "init": "Write a small project that can be run: a study, a workload, a noxfile.",
}


class Command(Protocol):
    """What the module of a command has."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of the command."""

    def run(self, options: Namespace) -> int:
        """Do what the options say in the project ``options.root``; return the exit code. Raises Refused."""


def load(name: str) -> Command:
    """Import the command ``name``."""
    return cast(Command, importlib.import_module(f"{__name__}.{name}"))


def tidy(root: Path, *, warn: bool = True) -> None:
    """Restore runs that a killed command was moving, and remove the containers of this project that nobody uses.

    Every command does so before and after its work. While another one measures in the project, they are its own. Where
    this project has started no container, no engine is asked. ``warn`` says whether to tell of a run that cannot be
    restored.
    """
    from ..containers import started_flag
    from ..storage import moves

    started = started_flag.exists(root)
    if not started and not moves.unfinished(root):
        return
    from ..storage.run_lock import RunUnderWay, exclusive

    try:
        with exclusive(root):
            moves.restore_all(root)
            if started:
                from ..containers import leftovers

                leftovers.sweep_if_started(root, announce)
    except RunUnderWay:
        return
    except Refused as error:
        if warn and (halved := moves.unfinished(root)):
            said = f"{halved[0] / moves.MOVING} has files of a run that a killed command was moving. Not moved back: "
            print(harmless(f"{said}{error}"), file=sys.stderr, flush=True)


def announce(text: str) -> None:
    """Print what a command found, however long, or one line of progress, at once; nothing in it steers a terminal."""
    # In one piece, as lines of environments that are built side by side meet.
    print(visible(as_called(text)) + "\n", end="", flush=True)
