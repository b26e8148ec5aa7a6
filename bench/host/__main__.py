"""Starts the host: ``python -m bench.host prepare | run | report | lock | schema``, as the noxfile calls it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bench.record import OK

from . import environments
from .commands import images as images
from .commands import validate as validation
from .environments import locks
from .measuring.study_run import StudyRun, exit_code
from .reporting import report
from .storage import journal
from .storage.input_data import DataError
from .storage.run_lock import Refused, exclusive
from .study import json_schema, selection, study_file
from .study.twin import original

ROOT = Path(__file__).resolve().parents[2]
#: What a shell expects of a command that was called wrongly, or interrupted.
EXIT_MISUSE, EXIT_INTERRUPTED = 2, 130


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Do what the command line says in the checkout at ``root``; return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmatrix", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (action, add_arguments, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        add_arguments(command)
        command.set_defaults(action=action)
    options = parser.parse_args(arguments, argparse.Namespace(root=root))
    try:
        return int(options.action(options))
    except (study_file.MatrixError, locks.LockError, DataError, Refused) as error:
        print(error, file=sys.stderr)
        return EXIT_MISUSE
    except KeyboardInterrupt:
        print("Interrupted. What was measured is kept; the same command continues.", file=sys.stderr)
        return EXIT_INTERRUPTED


def prepare(options: argparse.Namespace) -> int:
    """Build one environment and note the outcome; an environment that cannot be built is a result, not an error."""
    study = study_file.load(options.matrix)
    plan = selection.from_options(study, options, environments=[options.environment])
    if not options.dry_run and plan.cells:
        chosen = selection.with_interpreters(study, options).environments[options.environment]
        # A build would disturb whoever measures, and could replace what is being measured.
        with exclusive(options.root):
            environments.prepare(chosen, root=options.root, announce=_announce)
    return 0


def run(options: argparse.Namespace) -> int:
    """Measure the selected cells of the named environments and write the report."""
    study = selection.with_interpreters(study_file.load(options.matrix), options)
    plan = selection.from_options(study, options, environments=options.environment or list(study.settings.default))
    console = Console()
    if not plan.cells and not options.dry_run:
        raise Refused(f"{selection.preview(plan)}\nNothing is selected that can be measured; loosen the selection.")
    if options.dry_run:
        console.print(selection.preview(plan), markup=False, highlight=False, soft_wrap=True)
        return 0
    with exclusive(options.root):
        prepared = {
            name: environments.load_outcome(name, root=options.root)
            or environments.prepare(study.environments[name], root=options.root, announce=_announce)
            for name in dict.fromkeys(original(cell.environment) for cell in plan.cells)
        }
        without = environments.without_engine(prepared.values())
        if without:
            raise Refused(without)
        for outcome in prepared.values():
            if outcome.status != OK:
                _announce(f"{outcome.name}: {outcome.status}: {outcome.reason}")
        return exit_code(StudyRun(options.root, study, plan, prepared, console).measure(fresh=options.fresh))


def redo_report(options: argparse.Namespace) -> int:
    """Redo the report of a study from its records alone."""
    study = study_file.load(options.matrix)
    folder = options.folder or options.root / "reports" / study.settings.name
    described = journal.read_run(folder)
    if described is None:
        raise Refused(f"{folder} holds no run. Measure first: nox -s bench-{study.settings.default[0]}")
    records = journal.read(folder)
    made = report.make(records, described)
    written = made.write(folder)
    made.print(Console())
    for path in written.paths:
        print(path)
    for problem in written.problems:
        print(f"Not written: {problem}", file=sys.stderr)
    return 1 if written.problems else 0


def lock(options: argparse.Namespace) -> int:
    """Renew the locks of the named environments, or of all."""
    study = study_file.load(options.matrix)
    locks.renew(study.environments, options.names, root=options.root, announce=_announce)
    return 0


def write_schema(options: argparse.Namespace) -> int:
    """Write the JSON Schema of study files, for editors."""
    print(json_schema.write())
    return 0


def _announce(text: str) -> None:
    print(text, flush=True)


def _matrix_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--matrix", type=Path, default=ROOT / "matrix.toml", metavar="FILE", help="the study file")


def _prepare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("environment")
    selection.add_arguments(parser)
    parser.add_argument("--fresh", action="store_true", help=argparse.SUPPRESS)


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--environment", action="append", default=[], metavar="NAME")
    selection.add_arguments(parser)
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing an unfinished run")


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    _matrix_argument(parser)
    parser.add_argument("folder", nargs="?", type=Path, help="a folder with records; the study's by default")


def _lock_arguments(parser: argparse.ArgumentParser) -> None:
    _matrix_argument(parser)
    parser.add_argument("names", nargs="*", help="environments; all by default")


Command = tuple[Callable[[argparse.Namespace], int], Callable[[argparse.ArgumentParser], None], str]
COMMANDS: dict[str, Command] = {
    "prepare": (prepare, _prepare_arguments, "Build one environment of the study."),
    "run": (run, _run_arguments, "Measure the study and write its report."),
    "report": (redo_report, _report_arguments, "Redo the report from the records alone."),
    "validate": (validation.run, validation.add_arguments, "Prove the method with comparisons whose answer is known."),
    "images": (images.run, images.add_arguments, "Build, list, export or prune the images of this checkout."),
    "lock": (lock, _lock_arguments, "Renew lock files."),
    "schema": (write_schema, lambda parser: None, "Write the JSON Schema of study files."),
}

if __name__ == "__main__":
    sys.exit(main())
