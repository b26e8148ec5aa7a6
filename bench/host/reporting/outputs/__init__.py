"""Writes the files of a report. To add an output, add a module to this folder and an entry to ``BUILT_IN``.

The module has ``NAME``, the file that it writes, and ``write(report, folder)``, which writes into an empty folder and
returns the paths of what it wrote. Other people's outputs have the same two, in files ``outputs/<name>.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...refusal import Refused, describe
from . import (
    claims_markdown,
    details_csv,
    details_latex,
    environments_json,
    figures,
    loading,
    machine_json,
    macros_latex,
    page_html,
    ranking_csv,
    results_csv,
    samples_parquet,
    side_by_side,
    summary_latex,
    table_latex,
    table_markdown,
)
from .output import Output

if TYPE_CHECKING:
    from ..report import Report

#: The same tables in two forms: one process makes the tables for both.
TABLES = (Output.of(table_markdown), Output.of(table_latex))
BUILT_IN = (
    Output.of(claims_markdown),
    Output.of(results_csv),
    Output.of(details_csv),
    Output.of(samples_parquet),
    Output.of(summary_latex),
    Output.of(details_latex),
    Output.of(macros_latex),
    *figures.OUTPUTS,
    Output.of(ranking_csv),
    Output.of(machine_json),
    Output.of(environments_json),
    Output.of(page_html),
    *TABLES,
)
#: The files that we write; those of a figure have endings behind the name.
OURS = frozenset(output.name for output in BUILT_IN)


@dataclass
class Written:
    """The files of a report, and what went wrong with other people's outputs."""

    paths: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    #: Which of our own files the disk did not take, and what to do.
    refused: list[str] = field(default_factory=list)

    def raise_refused(self) -> None:
        """Raise Refused where one of our own files could not be written."""
        if self.refused:
            raise Refused("\n".join(self.refused))


def load(files: Iterable[Path]) -> tuple[list[Output], list[str]]:
    """Load other people's outputs; return them, and a line for each that cannot be used."""
    return loading.load(files, OURS)


def write_all(report: Report, folder: Path, extra: Iterable[Output], *, every_figure: bool) -> Written:
    """Write our outputs and then other people's; one of theirs that fails costs the others nothing."""
    found = Written()
    tables = [output for output in BUILT_IN if output in TABLES]
    # The last piece is begun first: the tables take longest.
    together = [*([output] for output in BUILT_IN if output not in TABLES), tables]
    pieces = [partial(_write, outputs, report, folder, every_figure) for outputs in together]
    for names, refused in side_by_side.call(pieces):
        found.paths += [folder / name for name in names]
        found.refused += refused
    for output in extra:
        try:
            found.paths += output.write_whole(report, folder, OURS | loading.OF_THE_RUN)
        except (Exception, SystemExit) as error:  # the boundary to other people's code
            found.problems.append(loading.describe_failure(output.source, error))
    return found


def _write(outputs: Sequence[Output], report: Report, folder: Path, every_figure: bool) -> tuple[list[str], list[str]]:
    """Write some of ours, or remove old ones; return their files, and what the disk did not take."""
    written: list[str] = []
    refused: list[str] = []
    for output in outputs:
        try:
            wanted = every_figure or figures.is_kept(output, folder)
            paths = output.write_whole(report, folder) if wanted else []
            if not paths:
                figures.remove(output, folder)
            written += [str(path.relative_to(folder)) for path in paths]
        except OSError as error:
            # The others may still be written: a folder may be in the place of this one.
            refused.append(describe(error, folder / output.name))
        except Refused as error:
            refused.append(f"{folder / output.name}: {error}")
    return written, refused
