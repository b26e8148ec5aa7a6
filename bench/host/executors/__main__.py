"""Runs row jobs: ``python -m bench.host.executors < job.json`` writes the events of the job as lines of JSON.

Every line of the input is a job; they run one after the other. Between them, ``{"ask": "machine"}`` asks for the facts
of the machine. Nothing else goes to standard output. SIGINT and SIGTERM end the job; what had been measured is written
first.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import signal
import sys
from pathlib import Path
from types import FrameType

from bench.worker import process

from ..machine import facts
from ..project import STATE
from ..refusal import Refused
from ..storage.lines import parsed
from ..storage.run_lock import exclusive
from ..system import EXIT_MISUSE
from .events import ASKED, Described, Event, to_json
from .job import RowJob
from .local import LocalExecutor

EXIT_DONE, EXIT_INTERRUPTED = 0, 130
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def main(arguments: list[str] | None = None) -> int:
    """Run the jobs on standard input; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.host.executors", description="Run row jobs.")
    parser.add_argument("--root", type=Path, default=Path(), metavar="FOLDER", help="the project; its state is in .nox")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="where the workers' logs go; .nox by default")
    parser.add_argument(
        "--lane",
        type=_numbers,
        metavar="0,1",
        help="run on these processors, as a lane of a run that holds the project, and end with it",
    )
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    for number in INTERRUPTS:
        signal.signal(number, _interrupt)
    lane = "" if options.lane is None else "p" + "-".join(map(str, options.lane))
    if lane:
        process.die_with_parent()
        process.pin(options.lane)
    try:
        line = sys.stdin.readline()
        if not line and not lane:
            raise ValueError("the input is empty")
        job = _job_of(line)
        if job is None:
            return EXIT_DONE
        with (
            contextlib.nullcontext() if lane else exclusive(root, functools.partial(print, file=sys.stderr)),
            contextlib.closing(LocalExecutor(root, options.logs or root / STATE, lane)) as executor,
        ):
            while job is not None:
                executor.run(job, _write)
                job = _job_of(sys.stdin.readline())
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (ValueError, Refused) as error:
        print(f"row job: {error}", file=sys.stderr)
        return EXIT_MISUSE
    return EXIT_DONE


def _job_of(line: str) -> RowJob | None:
    """Return the job of a line, after answers to questions; None at the end. Raises ValueError for what is neither."""
    while line:
        given = parsed(line)
        if given != ASKED:
            return RowJob.from_json(given)
        _write(Described(facts.describe()))
        line = sys.stdin.readline()
    return None


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the job; a second signal must not cut short what is written then."""
    for each in INTERRUPTS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _write(event: Event) -> None:
    sys.stdout.write(json.dumps(to_json(event)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
