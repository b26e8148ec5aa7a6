"""Summarises what compilers did with a cell: graphs, graph breaks, and compilations while samples were timed."""

from __future__ import annotations

from collections.abc import Sequence

from bench.record import Record

from .notes import Note, NoteKind, Severity, note


def most(records: Sequence[Record], name: str) -> int:
    """Return the largest of a count over the processes."""
    return max((int(record.compilation.get(name) or 0) for record in records), default=0)


def recompilations(records: Sequence[Record]) -> int:
    """Return how often all processes of a cell together compiled again while they were timed."""
    return sum(int(record.compilation.get("recompiled_while_timing") or 0) for record in records)


def break_reasons(records: Sequence[Record]) -> list[str]:
    """Return why graphs broke, every reason once."""
    reasons = (str(one) for record in records for one in record.compilation.get("graph_break_reasons") or ())
    return list(dict.fromkeys(reasons))


def notes_on_compilation(records: Sequence[Record]) -> tuple[Note, ...]:
    """Note what is unusual in a compiled cell: several graphs or traces, graph breaks, compiling while timed."""
    if not any(record.compilation for record in records):
        return ()
    notes = []
    again = recompilations(records)
    if again:
        affected = sum(bool(record.compilation.get("recompiled_while_timing")) for record in records)
        notes.append(
            note(NoteKind.RECOMPILED, Severity.UNUSABLE, times=again, affected=affected, processes=len(records))
        )
    graphs, traces, breaks = (most(records, name) for name in ("graphs", "traces", "graph_breaks"))
    if graphs > 1 or traces > 1 or breaks:
        reasons = tuple(break_reasons(records)) if breaks else ()
        notes.append(
            note(NoteKind.SPLIT_GRAPHS, Severity.INFO, graphs=graphs, traces=traces, breaks=breaks, reasons=reasons)
        )
    return tuple(notes)
