"""Defines the options that choose cells of a stored run by patterns of their names."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..refusal import Refused
from ..study.patterns import cell_fits
from ..study.suggestion import unknown
from .study_options import add_pattern_options

if TYPE_CHECKING:
    from bench.cell import Cell

    from ..storage.run_summary import CellSummary

#: {option: (an example of its patterns, what they select)}
OPTIONS = {
    "workload": ("'mlp-*'", "workloads; all by default"),
    "mode": ("eager", "modes; all by default"),
    "environment": ("torch2", "environments; all by default"),
}
#: What every cell has besides; a summary of a run has no such fields.
MORE_OPTIONS = {
    "size": ("small", "sizes; all by default"),
    "precision": ("float32", "precisions; all by default"),
    "device": ("cpu", "devices; all by default"),
    "threads": ("1", "numbers of threads; every number by default"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_pattern_options(parser, OPTIONS)


def chosen(options: argparse.Namespace) -> Callable[[CellSummary], bool]:
    """Return a function that tells whether a cell is chosen."""
    return lambda cell: cell_fits(cell, options, OPTIONS)


def verify(
    options: argparse.Namespace, cells: Iterable[CellSummary] | Iterable[Cell], names: Iterable[str] = OPTIONS
) -> None:
    """Raise Refused for a pattern of the options ``names`` that matches none of ``cells``."""
    known = list(cells)
    for name in names:
        values = list(dict.fromkeys(str(getattr(cell, name)) for cell in known))
        for pattern in getattr(options, name):
            if not fnmatch.filter(values, pattern):
                raise Refused(f"--{name}: {unknown(name, pattern, values)}")


def factor(text: str) -> float:
    """Read a factor of at least 1, such as 1.2."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1.0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a factor of at least 1, such as 1.2")
    return value
