"""Defines the options by which a report shows a part of a run, and where it goes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..refusal import Refused
from ..study import location
from ..study.patterns import cell_fits
from . import cell_filter
from .study_options import add_pattern_options

if TYPE_CHECKING:
    from bench.cell import Cell
    from bench.record import Record

    from ..storage.manifest import Manifest

OPTIONS = {**cell_filter.OPTIONS, **cell_filter.MORE_OPTIONS}
#: The folder of a part's report, in that of its run: the report of the whole run stays as it is.
PART = "part"


class ShownPart(NamedTuple):
    """The cells of a run that a report shows."""

    shown: Callable[[Cell], bool]
    #: How many others the run has.
    hidden: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "a part of the run", f"The files of a part go to the folder {PART} in that of the run."
    )
    add_pattern_options(group, OPTIONS)
    parser.add_argument("--to", type=location.path_option, metavar="FOLDER", help="write the files of the report there")


def of(options: argparse.Namespace, manifest: Manifest, records: Iterable[Record]) -> ShownPart | None:
    """Return the part that the options choose, None for the whole run.

    Raises Refused where there is no such part, or where something else that was asked for needs the whole run.
    """
    from ..study.baseline import CHOSEN
    from ..study.twin import original_cell

    if not any(getattr(options, name) for name in OPTIONS):
        return None
    for option in ("fail_if", "claims"):
        if getattr(options, option) is not None:
            raise Refused(f"--{option.replace('_', '-')} judges a whole run; the other options choose a part of it.")
    measured = [original_cell(cell) for cell in (*manifest.planned, *(record.cell for record in records))]
    cells = list(dict.fromkeys([*measured, *(cell for cell, _reason in manifest.excluded)]))
    cell_filter.verify(options, cells, OPTIONS)

    def shown(cell: Cell) -> bool:
        return cell_fits(cell, options, OPTIONS)

    columns = list(dict.fromkeys(cell.column for cell in measured if shown(cell)))
    if not columns:
        raise Refused("The run has no cell that all of these patterns fit.")
    baseline = manifest.study.baseline
    # A run without its baseline has a report all the same, which says so.
    if baseline not in (*CHOSEN, *columns) and any(cell.column == baseline for cell in measured):
        raise Refused(
            f"The baseline {baseline} is not in this part. Choose it, too, or another one, "
            f"such as --baseline {columns[0]}"
        )
    return ShownPart(shown, sum(not shown(cell) for cell in cells))


def chosen_by(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """List what the command says of the run, its cells and the place of the files; a folder of a run has no option."""
    patterns = {name: ",".join(getattr(options, name)) for name in OPTIONS}
    given = {"": _within(options.folder, options.root), **patterns, "to": _within(options.to, options.root)}
    return tuple((name, value) for name, value in given.items() if value)


def _within(path: Path | None, root: Path) -> str:
    """Name a folder from that of the project; empty for one elsewhere, since others read the page, too."""
    absolute = Path(os.path.abspath(path)) if path is not None else None
    return absolute.relative_to(root).as_posix() if absolute is not None and absolute.is_relative_to(root) else ""


def folder_of(options: argparse.Namespace, run: Path, part: ShownPart | None) -> Path:
    """Return the folder of the report of the run in the folder ``run``.

    Raises Refused where another run is in it, and for a path that leads through a file.
    """
    from ..storage.manifest import RUN

    to: Path | None = options.to
    if to is None:
        return run / PART if part else run
    there = next(path for path in (to, *to.absolute().parents) if path.exists())
    if not there.is_dir():
        raise Refused(f"--to: {there} is a file, and a report is a folder. Name another folder.")
    # Where a folder before ".." is missing, it would be made.
    if (to.resolve() / RUN).exists() and (part or to.resolve() != run.resolve()):
        raise Refused(f"{to} is the folder of a run, whose report would be replaced. Name another with --to")
    return to
