"""Knows what compilers did with a cell: what they compiled, where a graph broke, and what they compiled again."""

from __future__ import annotations

from collections.abc import Sequence

from bench.record import Record

from ..reporting.tables.table import shorten

#: Characters of all reasons of graph breaks together; the records keep all of them.
REASONS_LENGTH = 160


def most(records: Sequence[Record], name: str) -> int:
    """Return the largest of a count over the processes."""
    return max((int(record.compilation.get(name) or 0) for record in records), default=0)


def recompilations(records: Sequence[Record]) -> int:
    """Return how often the processes of a cell compiled again while they were timed, all together."""
    return sum(int(record.compilation.get("recompiled_while_timing") or 0) for record in records)


def break_reasons(records: Sequence[Record]) -> list[str]:
    """Return why graphs broke, every reason once."""
    reasons = (str(one) for record in records for one in record.compilation.get("graph_break_reasons") or ())
    return list(dict.fromkeys(reasons))


def compilation_notes(records: Sequence[Record]) -> tuple[str, ...]:
    """Say what a reader would not expect of a compiled cell: more than one graph, breaks, compiling while timed."""
    notes = []
    again = recompilations(records)
    if again:
        affected = sum(bool(record.compilation.get("recompiled_while_timing")) for record in records)
        notes.append(f"suspect: recompiled {again}× while timing, in {affected} of {len(records)} processes")
    parts = " and ".join(f"{number} {name}" for name in ("graphs", "traces") if (number := most(records, name)) > 1)
    breaks = most(records, "graph_breaks")
    clauses = [f"in {parts}"] if parts else []
    if breaks:
        reasons = shorten("; ".join(break_reasons(records)), REASONS_LENGTH)
        clauses.append(f"with {breaks} graph break{'s' * (breaks > 1)}" + (f" ({reasons})" if reasons else ""))
    if clauses:
        notes.append(f"compiled {', '.join(clauses)}")
    return tuple(notes)
