"""Starts the host: ``python -m bench.host COMMAND``, as the nox sessions call it, in the folder of a project."""

from __future__ import annotations

import os
import signal

#: What a shell expects of a command that a signal ended, whose number is added.
EXIT_SIGNAL = 128

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Before the command line is read and after its work, Ctrl-C has nothing to keep, and nobody needs a traceback.
    signal.signal(signal.SIGINT, lambda number, _frame: os._exit(EXIT_SIGNAL + number))

import argparse
import codecs
import contextlib
import io
import sys
from pathlib import Path

if not __package__:
    # Started by its path, from a checkout that is not the current folder.
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from bench.host import commands, interrupts, project, refusal, system
from bench.host.commands.parser import Parser
from bench.host.refusal import Refused, describe, harmless
from bench.host.study import suggestion
from bench.host.system import EXIT_MISUSE

#: What a message calls the place that a command prints to.
OUTPUT = "the output"
#: Commands that measure, and say before what a system that is not Linux lacks.
MEASURING = ("run", "train", "history", "bisect", "validate")


def main(arguments: list[str] | None = None, root: Path | None = None) -> int:
    """Do what the command line says in the project at ``root``, the current folder by default; return the exit code."""
    system.verify()
    given = sys.argv[1:] if arguments is None else arguments
    _replace_what_the_terminal_lacks()
    _forget_a_width_of_0()
    try:
        return _call(given, root or Path.cwd())
    except ModuleNotFoundError as error:
        if _has_libraries():
            raise
        session = "bench-ENVIRONMENT" if given[0] in ("prepare", "run") else given[0]
        said = (
            f"This Python lacks the library {error.name}. Use the one of the checkout: python3 noxfile.py -s {session}"
        )
        print(said, file=sys.stderr)
        return EXIT_MISUSE


def _call(given: list[str], root: Path) -> int:
    if given and not given[0].startswith("-") and given[0] not in commands.SUMMARIES:
        print(harmless(suggestion.unknown("command", given[0], commands.SUMMARIES)), file=sys.stderr)
        return EXIT_MISUSE
    made = parser(given)
    if given.count("--") > 1:
        # argparse would take a name away.
        made.error("-- stands twice; it ends the options, so once is enough")
    options = made.parse_args(given, argparse.Namespace(root=root))
    try:
        with interrupts.keyboard_interrupts():
            commands.tidy(options.root)
            if options.command in MEASURING and (said := system.notice()) is not None:
                print(said, file=sys.stderr, flush=True)
            with _language(options):
                code = int(options.action(options))
        # Where nobody reads it, or its disk is full, Python would say so at its end, in its own words.
        print(end="", flush=True)
        return code
    except Refused as error:
        print(harmless(project.as_called(str(error))), file=sys.stderr)
        return EXIT_MISUSE
    except BrokenPipeError:
        # Whoever read the output, such as head, has gone; Python would try to write the rest once more at its end.
        _drop_output()
        return EXIT_SIGNAL + signal.SIGPIPE
    except (OSError, MemoryError, RuntimeError) as error:
        said = _lack(error)
        if said is None:
            raise
        print(harmless(said), file=sys.stderr)
        return EXIT_MISUSE
    except KeyboardInterrupt as interrupt:
        # The terminal may be what went away.
        with contextlib.suppress(OSError):
            print("Interrupted. What was measured is kept; the same command continues.", file=sys.stderr, flush=True)
        return EXIT_SIGNAL + getattr(interrupt, "number", signal.SIGINT)
    finally:
        # What cannot be read or restored was told of before.
        with contextlib.suppress(OSError):
            commands.tidy(options.root, warn=False)


def _replace_what_the_terminal_lacks() -> None:
    """Print a question mark for a character that the encoding of the output lacks, unless it was told otherwise."""
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper) or out.errors not in ("strict", "surrogateescape"):
        return
    if not codecs.lookup(out.encoding).name.startswith("utf"):
        out.reconfigure(errors="replace")


def _forget_a_width_of_0() -> None:
    """Remove COLUMNS=0, which some build servers set: for Python the width is unknown then, for rich it is 0."""
    if not os.environ.get("COLUMNS", "unset").strip("0"):
        del os.environ["COLUMNS"]


def _lack(error: Exception) -> str | None:
    """Say what was in the way: a file, the output, or a limit of the system; None for a fault of the program."""
    if isinstance(error, OSError) and (place := error.filename or (OUTPUT if _output_fails() else None)) is not None:
        return describe(error, place)
    return refusal.exhausted(error)


def _output_fails() -> bool:
    """Tell whether the output takes nothing more, as a file on a full disk; what it did not take is dropped.

    From 3.14 on, Python itself drops that, so that only a further character shows it.
    """
    try:
        print(flush=True)
    except OSError:
        _drop_output()
        return True
    return False


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _has_libraries() -> bool:
    """Tell whether this Python was made for the host: a wheel has its libraries beside it, a checkout in its state."""
    state = project.PACKAGE.parent / project.STATE
    return project.is_installed() or Path(sys.prefix).resolve().is_relative_to(state.resolve())


def _language(options: argparse.Namespace) -> contextlib.AbstractContextManager[None]:
    """Write reports in the language that the command line names; raises Refused where there is no such language."""
    name = getattr(options, "language", None)
    if name is None:
        return contextlib.nullcontext()
    from bench.host.reporting.words import language

    return language.writing_in(language.find(name))


def parser(given: list[str]) -> argparse.ArgumentParser:
    """Make the parser of all commands; only the one that is called gets its options."""
    made = Parser(prog="benchmatrix", allow_abbrev=False)
    group = made.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, summary in commands.SUMMARIES.items():
        subparser = group.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        if given[:1] == [name]:
            command = commands.load(name)
            command.add_arguments(subparser)
            subparser.set_defaults(action=command.run)
    return made


if __name__ == "__main__":
    sys.exit(main())
