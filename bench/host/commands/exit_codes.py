"""Turns what a run measured into an exit code, with one line for each reason that is not success.

0: every cell that this machine supports was measured. 1: a cell failed, or none was measured. 2: misuse. 3: the gate
``--fail-if`` found a slowdown, or could not judge one. 130: interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.record import OK, UNSUPPORTED, Record

from ..counts import counted
from ..refusal import harmless
from ..system import EXIT_GATE

if TYPE_CHECKING:
    from ..analysis.gate import Gate
    from ..analysis.results import Result
    from ..storage.manifest import Manifest

EXIT_OK, EXIT_FAILED = 0, 1
#: Cells that a line names; the report has all of them.
MOST_NAMED = 5
LONGEST_REASON = 300
BUSY = "The machine was busy: close other programs, or let the run wait for them with --wait 10m."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide the exit code."""
    parser.add_argument(
        "--allow-failures",
        action="store_true",
        help="exit with 0 although cells failed, as long as one was measured",
    )
    parser.add_argument(
        "--fail-if",
        type=gate_limit,
        metavar="slower:5%",
        help="exit with 3 where a verdict says that a column is slower than the baseline by more than this, "
        "or where there are too few rounds for a verdict",
    )


def gate_limit(text: str) -> float:
    """Read a gate such as ``slower:5%``, as a fraction."""
    found = re.fullmatch(r"slower:([0-9]+(?:\.[0-9]+)?)%", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a gate; write slower: and a percentage, such as slower:5%")
    return float(found[1]) / 100.0


def exit_code(
    options: argparse.Namespace, records: Sequence[Record], manifest: Manifest, folder: Path | None = None
) -> int:
    """Return the exit code of a run or a report, and print the reasons; ``folder`` is the run's, with its logs."""
    code = _of_cells(records, folder, allow_failures=options.allow_failures)
    if manifest.profile.trial:
        _tell_of_trial(records)
    if options.fail_if is None:
        return code
    from ..analysis.gate import Gate

    return _of_gate(Gate(options.fail_if), records, manifest) or code


def _of_cells(records: Iterable[Record], folder: Path | None, *, allow_failures: bool) -> int:
    """Judge by the last record of each cell: a cell that failed and was measured later did not fail."""
    last = {record.cell: record for record in records}
    failed = [record for record in last.values() if record.status not in (OK, UNSUPPORTED)]
    measured = any(record.status == OK for record in last.values())
    if not last:
        print(
            "No cell was measured, as the run ended before the first one. A larger --budget may help.", file=sys.stderr
        )
        return EXIT_FAILED
    if measured and (allow_failures or not failed):
        return EXIT_OK
    # Where nothing was measured, this machine's lack is what a person must see.
    without = failed if measured else [record for record in last.values() if record.status != OK]
    names = _names([record.cell.name for record in without])
    _say(f"No result from {len(without)} of {len(last)} cells: {names}. The report says why.")
    for record in without[:MOST_NAMED]:
        reason = textwrap.shorten(f"{record.status} in {record.stage}: {record.reason}", LONGEST_REASON)
        _say(f"  {record.cell.name}: {reason}")
        log = None if folder is None else _log(folder, record)
        if log is not None:
            _say(f"    log: {log}")
    return EXIT_FAILED


def _say(text: str) -> None:
    """Print a reason; names of a stored run may hold what steers a terminal."""
    print(harmless(text), file=sys.stderr)


def _log(folder: Path, record: Record) -> str | None:
    """Return where the log of a process is; None where it is empty or there is none."""
    from ..storage import worker_logs

    path = worker_logs.path_of(folder, record.cell, worker_logs.label_of(record.round, record.attempt))
    return os.path.relpath(path) if worker_logs.tail(folder, record) else None


def _tell_of_trial(records: Iterable[Record]) -> None:
    """Say how many cells are correct: what a trial is for, however busy the machine was."""
    last = list({record.cell: record.status for record in records}.values())
    right, unsupported = last.count(OK), last.count(UNSUPPORTED)
    more = f"; {unsupported} unsupported here" if unsupported else ""
    print(f"{right} of {len(last) - unsupported} cells agree with float64{more}. The times of a trial mean nothing.")


def _of_gate(gate: Gate, records: Sequence[Record], manifest: Manifest) -> int:
    from ..analysis.baselines import baselines_of
    from ..analysis.comparable_times import disturbed
    from ..analysis.run_analysis import analyse

    analysis = analyse(records, manifest)
    judged = gate.judge(analysis, manifest.study.baseline)
    limit = f"{100 * gate.slower:g} %"
    for result in judged.slower:
        _say(f"Slower by more than {limit}: {_measured(result)}")
    if judged.open:
        names = _names([result.cell.name for result in judged.open])
        bases = baselines_of(analysis.results, manifest.study.baseline)
        both = (one for result in judged.open for one in (result, bases.get(result.cell)))
        busy = any(one is not None and disturbed(one) for one in both)
        remedy = BUSY if busy else _more_rounds(manifest)
        _say(f"Not settled, so not within {limit}: {counted(len(judged.open), 'comparison')}: {names}. {remedy}")
    if judged.lost:
        names = _names([result.cell.name for result in judged.lost])
        remedy = "They or their baseline failed, or the run ended before them: the report says which."
        _say(f"Not compared, so not within {limit}: {counted(len(judged.lost), 'cell')}: {names}. {remedy}")
    if not judged.compared:
        print("Nothing was compared with the baseline, so nothing shows that nothing is slower.", file=sys.stderr)
    passed = judged.compared and not (judged.slower or judged.open or judged.lost)
    return EXIT_OK if passed else EXIT_GATE


def _more_rounds(manifest: Manifest) -> str:
    from ..statistics.verdict import minimum_pairs

    if (manifest.profile.rounds or 0) < minimum_pairs():
        return "More rounds settle them: --profile standard, or a larger --budget."
    return "More rounds settle them: a larger --budget, or a profile with more of them."


def _measured(result: Result) -> str:
    """Say how slow a cell is, with the digits of the table of details."""
    from ..reporting.words.language import ENGLISH, writing_in
    from ..reporting.words.numbers import format_interval, format_value

    assert result.ratio is not None
    estimate = result.ratio.estimate
    # The sentence is English in every language, and so are its numbers.
    with writing_in(ENGLISH):
        said = f"{result.cell.name} takes {format_value(estimate)} times the baseline's time"
        return f"{said} {format_interval(estimate)}".rstrip()


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
