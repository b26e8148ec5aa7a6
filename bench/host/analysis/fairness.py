"""Knows where the settings of the cells of a row differ, and which differences forbid a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.cell import Cell

from ..reporting.tables.table import shorten
from .results import Result

#: Where one of these differs, the two cells did not have the same means, or were not timed in the same way, and a
#: strict study refuses their ratio: processors, precision, the layout of the data, what a user could have switched on
#: for the other as well, and how it was measured. A setting that one side does not tell refuses nothing.
#:
#: Not among them is what a mode or a framework *is*, since that is what a study compares: what was compiled, CUDA
#: graphs, donation, the BLAS and kernels that come with it, and every setting that only one framework knows.
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


#: What every framework has, whether it tells or not.
EVERYWHERE = ("instruction set",)


def settings_of(result: Result) -> dict[str, str]:
    """Return a cell's settings as text; all values of one that changed between its processes."""
    found: dict[str, list[str]] = {}
    for record in result.records:
        compiled = {"compiled": record.compilation["compiled"]} if record.compilation.get("compiled") else {}
        for name, value in {**compiled, **record.settings}.items():
            found.setdefault(name, []).append(str(value))
    return {name: " or ".join(dict.fromkeys(values)) for name, values in found.items()}


def differing_settings(results: Sequence[Result]) -> tuple[str, ...]:
    """Name the settings that several cells of a row report, but not with the same value."""
    found: dict[str, dict[Cell, str]] = {}
    for result in results:
        for name, value in settings_of(result).items():
            found.setdefault(name, {})[result.cell] = shorten(value, 60) or "empty"
    clauses = [f"{name} is {_distribution(values)}" for name, values in found.items() if len(set(values.values())) > 1]
    told = [result.cell for result in results if result.records and settings_of(result)]
    for name in EVERYWHERE:
        silent = [cell.environment for cell in told if name in found and cell not in found[name]]
        if silent:
            clauses.append(f"{name} is not told by {enumerate_names(list(dict.fromkeys(silent)))}")
    return (f"settings differ: {'; '.join(clauses)}",) if clauses else ()


def _distribution(values: Mapping[Cell, str]) -> str:
    """Say which columns have which value; the environment alone where all of its modes agree."""
    clauses = []
    for value in dict.fromkeys(values.values()):
        others = {cell.environment for cell, other in values.items() if other != value}
        having = dict.fromkeys(
            cell.column if cell.environment in others else cell.environment
            for cell, other in values.items()
            if other == value
        )
        clauses.append(f"{value} in {enumerate_names(list(having))}")
    return ", ".join(clauses)


def refusal(result: Result, baseline: Result) -> str | None:
    """Say which settings forbid to compare two cells; None where none does."""
    mine, theirs = settings_of(result), settings_of(baseline)
    clauses = [
        f"{name} is {shorten(mine[name], 60)} here and {shorten(theirs[name], 60)} in the baseline"
        for name in GROUNDS
        if name in mine and name in theirs and mine[name] != theirs[name]
    ]
    return "; ".join(clauses) or None


def enumerate_names(names: Sequence[str]) -> str:
    """Write ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
