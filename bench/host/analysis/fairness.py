"""Finds where the settings of compared cells differ, which differences may explain a ratio, and which forbid one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.record import Record

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
#: The setting that names the libraries that were loaded before all others; a process without any has no such setting.
PRELOADED = "LD_PRELOAD"
#: Settings that every process has, whether it reports them or not.
EVERYWHERE = ("instruction set", PRELOADED)


#: The setting that says which part of a step was compiled, and its value where nothing was.
COMPILED, NOTHING = "compiled", "nothing"
#: The setting that says whether attention is a fused kernel or composed of products: each framework's faster form.
ATTENTION = "attention"

#: The setting that begins with the library of products, and what a framework says behind it where the library does not
#: use its fastest kernels, for products and functions such as tanh.
LIBRARY = "BLAS"
SLOW_KERNELS = "kernels for any processor"

#: (setting, value here, value in the baseline)
Difference = tuple[str, str, str]


@dataclass(frozen=True)
class DifferingSetting:
    """A setting that is not the same for all cells that are compared."""

    name: str
    #: {column: its values, several where they differ between its rows}, without the columns that do not report it.
    values: Mapping[str, tuple[str, ...]]


def settings_of(records: Iterable[Record]) -> dict[str, str]:
    """Return the settings of a cell as text; all values of one that changed between its processes."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        compiled = {COMPILED: record.compilation[COMPILED]} if record.compilation.get(COMPILED) else {}
        for name, value in {**compiled, **record.settings}.items():
            found.setdefault(name, {})[str(value)] = None
    return {name: " or ".join(values) for name, values in found.items()}


def refusal(result: Result, baseline: Result) -> tuple[Difference, ...]:
    """Return the differences that forbid to compare two cells."""
    return differences(result, baseline, GROUNDS)


def differences(result: Result, baseline: Result, names: Iterable[str]) -> tuple[Difference, ...]:
    """Return the differences of two cells in the settings ``names``, of those that both report."""
    return unequal(result.settings, baseline.settings, names)


def unequal(mine: Mapping[str, str], theirs: Mapping[str, str], names: Iterable[str]) -> tuple[Difference, ...]:
    """Return those of the settings ``names`` that are in both mappings, with different values."""
    return tuple(
        (name, mine[name], theirs[name])
        for name in names
        if name in mine and name in theirs and mine[name] != theirs[name]
    )


def explanations(result: Result, baseline: Result) -> tuple[str, ...]:
    """Return the settings whose difference may explain a ratio although neither program is the faster one.

    These are the grounds of a strict study, the form of attention, and what was compiled where both compiled something:
    that a mode compiles and another does not, its name says.
    """
    found = differences(result, baseline, (*GROUNDS, ATTENTION, COMPILED))
    return tuple(name for name, mine, theirs in found if name != COMPILED or NOTHING not in (mine, theirs))


def slow_library(result: Result) -> str | None:
    """Name the library with whose kernels a cell computes although its processor has faster ones; None for others."""
    said = result.settings.get(LIBRARY, "")
    return said.split()[0].upper() if SLOW_KERNELS in said else None


def differing_settings(rows: Iterable[Sequence[Result]]) -> tuple[DifferingSetting, ...]:
    """Return the settings in which cells of any row differ, or which one of them does not report although it has it."""
    values: dict[str, dict[str, dict[str, None]]] = {}
    differing: dict[str, None] = {}
    for row in rows:
        found = {result.cell.column: result.settings for result in row if result.settings}
        for name in dict.fromkeys(name for settings in found.values() for name in settings):
            own = {column: settings[name] for column, settings in found.items() if name in settings}
            silent = len(own) < len(found) and name in EVERYWHERE
            if len(set(own.values())) > 1 or silent:
                differing[name] = None
            for column, value in own.items():
                values.setdefault(name, {}).setdefault(column, {})[value] = None
    order = [name for name in (*GROUNDS, ATTENTION, COMPILED) if name in differing]
    order += [name for name in differing if name not in order]
    return tuple(
        DifferingSetting(name, {column: tuple(each) for column, each in values[name].items()}) for name in order
    )
