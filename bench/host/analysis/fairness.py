"""Finds where the settings of the cells of a row differ, and which differences forbid a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from bench.cell import Cell

from .notes import Note, NoteKind, Severity, note

if TYPE_CHECKING:
    from .results import Result

#: A strict study gives no ratio where one of these differs, as the two cells then did not have the same means, or were
#: not timed in the same way: processors, precision, the layout of the data, what a user could have switched on for the
#: other as well, and how it was measured. A setting that only one cell reports forbids nothing.
#:
#: What a mode or a framework *is* is not among them, since a study compares just that: what was compiled, CUDA graphs,
#: donation, the BLAS and kernels that come with it, and every setting that only one framework has.
GROUNDS = (
    "threads",
    "interop threads",
    "processors",
    "processor instruction set",
    "instruction set",
    "float32 matmul",
    "TF32 matmul",
    "TF32 convolution",
    "x64",
    "layout",
    "cuDNN autotuning",
    "cuDNN deterministic",
    "fused optimizer",
    "allocator",
    "synchronised",
)
#: Settings that every framework has, whether it reports them or not.
EVERYWHERE = ("instruction set",)


#: The setting that says which part of a step was compiled, and its value where nothing was.
COMPILED, NOTHING = "compiled", "nothing"

#: (setting, value here, value in the baseline)
Difference = tuple[str, str, str]


def settings_of(result: Result) -> dict[str, str]:
    """Return the settings of a cell as text; all values of one that changed between its processes."""
    found: dict[str, list[str]] = {}
    for record in result.records:
        compiled = {COMPILED: record.compilation[COMPILED]} if record.compilation.get(COMPILED) else {}
        for name, value in {**compiled, **record.settings}.items():
            found.setdefault(name, []).append(str(value))
    return {name: " or ".join(dict.fromkeys(values)) for name, values in found.items()}


def refusal(result: Result, baseline: Result) -> tuple[Difference, ...]:
    """Return the differences that forbid to compare two cells."""
    mine, theirs = settings_of(result), settings_of(baseline)
    return tuple(
        (name, mine[name], theirs[name])
        for name in GROUNDS
        if name in mine and name in theirs and mine[name] != theirs[name]
    )


def notes_on_settings(row: Sequence[Result]) -> tuple[Note, ...]:
    """Note the settings that several cells of a row report with different values, and the cells that compiled nothing.

    The values of a difference are ((setting, ((value, where it holds), …)), …).
    """
    found: dict[str, dict[Cell, str]] = {}
    for result in row:
        for name, value in settings_of(result).items():
            found.setdefault(name, {})[result.cell] = value
    reporting = [result.cell for result in row if result.records and settings_of(result)]
    unreported = tuple(
        (name, tuple(dict.fromkeys(silent)))
        for name in EVERYWHERE
        if (silent := [cell.environment for cell in reporting if name in found and cell not in found[name]])
    )
    notes = []
    differing = {name: values for name, values in found.items() if len(set(values.values())) > 1}
    not_compiled = [cell for cell, value in differing.get(COMPILED, {}).items() if value == NOTHING]
    if not_compiled:
        compiled = {cell: value for cell, value in differing.pop(COMPILED).items() if value != NOTHING}
        if len(set(compiled.values())) > 1:
            differing[COMPILED] = compiled
    if differing or unreported:
        settings = tuple((name, _holders(values)) for name, values in differing.items())
        notes.append(note(NoteKind.SETTINGS_DIFFER, Severity.INFO, settings=settings, unreported=unreported))
    if not_compiled:
        names = _short_names(not_compiled, differing_from=found[COMPILED].keys() - set(not_compiled))
        notes.append(note(NoteKind.NOT_COMPILED, Severity.INFO, columns=names))
    return tuple(notes)


def _holders(values: Mapping[Cell, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (value, the columns that have it) for every value."""
    return tuple(
        (
            value,
            _short_names(
                [cell for cell, other in values.items() if other == value],
                differing_from=[cell for cell, other in values.items() if other != value],
            ),
        )
        for value in dict.fromkeys(values.values())
    )


def _short_names(cells: Iterable[Cell], differing_from: Iterable[Cell]) -> tuple[str, ...]:
    """Name the columns of cells; the environment alone where all of its modes agree."""
    others = {cell.environment for cell in differing_from}
    return tuple(dict.fromkeys(cell.column if cell.environment in others else cell.environment for cell in cells))
