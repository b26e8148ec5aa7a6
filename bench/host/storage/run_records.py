"""Reads the records of a stored run, and refuses those of a finished run that are missing or cut off.

A run that was interrupted may have no records yet, and its last line may be half written. A finished run has all of its
lines, whose number ``run.json`` has: where some are lost, a report of the others would replace the right one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.record import FAILED, Record

from ..refusal import Refused
from . import journal, manifest
from .lines import PACKED
from .manifest import RUN, Manifest

REMEDY = f"{RUN} says that the run is finished. Restore the file from a copy."


def describe(folder: Path) -> Manifest | None:
    """Return the description of the run in ``folder``; None where there is none. Raises Refused for a damaged one."""
    damaged: list[str] = []
    described = manifest.read(folder, damaged)
    if damaged:
        raise Refused(
            f"{folder / RUN} is damaged: it does not describe a run: {damaged[0]}. Restore it from a copy; "
            f"{journal.path_of(folder).name} beside it holds what was measured."
        )
    return described


def read(folder: Path, described: Manifest, damaged: list[str] | None = None) -> list[Record]:
    """Read every record of the run that ``described`` describes; ``damaged`` gets the lines that were left out.

    Those of a column that the description retracts are failures.

    Raises Refused, too, where a finished run has no records, or where its file ends before its last line. Runs
    before 2026-11-27 do not say how many lines they have: of them only a line that is cut, or no record, is noticed.
    """
    left_out: list[str] = [] if damaged is None else damaged
    cut: list[str] = []
    records = journal.read(folder, left_out, cut, fewest=described.recorded_lines or 0)
    if _has_records(described) and (cut or not records):
        path = journal.path_of(folder)
        if not path.exists():
            raise Refused(f"{folder / journal.RECORDS} is missing, and so is {path.name}{PACKED}; {REMEDY}")
        why = cut[0] if cut else next(iter(left_out), "it is empty")
        raise Refused(f"{path} {'is cut off' if cut else 'has no record'} ({why}); {REMEDY}")
    return [_retracted(record, described) for record in records]


def _retracted(record: Record, described: Manifest) -> Record:
    """Let a record of a column that was found wrong after the run be a failure, with the reason."""
    reason = described.retracted.get(record.cell.column)
    if reason is None:
        return record
    return replace(record, status=FAILED, stage="measure", reason=f"retracted: {reason}")


def _has_records(described: Manifest) -> bool:
    """Tell whether a run ended with records; one whose budget was spent before the first round has none."""
    if described.recorded_lines is not None:
        return described.finished and described.recorded_lines > 0
    measured = described.budget_s is None or any(stop.rounds for stop in described.stopped.values())
    return described.finished and bool(described.planned) and measured
