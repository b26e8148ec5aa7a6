"""Ranks the columns of one run over its rows, or those that are chosen, by how far they are from the fastest."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..study import location
from . import announce, cell_filter, exit_codes, run_choice, show

if TYPE_CHECKING:
    from ..storage.run_summary import RunSummary


#: Rows that are named at most.
NAMED = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    run_choice.add_argument(parser)
    cell_filter.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    summary = run_choice.find(options, options.run)
    cell_filter.verify(options, summary.cells)
    announce("\n".join(_lines(summary, options)))
    return exit_codes.EXIT_OK


def _lines(summary: RunSummary, options: argparse.Namespace) -> Iterator[str]:
    from tabulate import tabulate

    wanted = cell_filter.chosen(options)
    rows: dict[tuple[str, int], dict[str, float]] = {}
    columns: dict[str, None] = {}
    for cell in summary.cells:
        if wanted(cell):
            columns[cell.column] = None
            time = show.step_s(cell)
            if time is not None:
                rows.setdefault((cell.row, cell.threads), {})[cell.column] = time
    # A column that has few rows must not take them from all others.
    ranked = [column for column in columns if 2 * sum(column in row for row in rows.values()) > len(rows)]
    dropped = [key for key, row in rows.items() if any(column not in row for column in ranked)]
    whole = [row for key, row in rows.items() if key not in dropped]
    yield run_choice.describe(summary.facts)
    if not whole or len(ranked) < 2:
        yield "No two columns have times in the same rows."
        return
    yield f"Times over the fastest's, geometric mean over {len(whole)} of {len(rows)} rows that all columns have:"
    means = sorted((mean_distance(whole, ranked, column), column) for column in ranked)
    firsts = {column: sum(row[column] == min(row[one] for one in ranked) for row in whole) for column in ranked}
    table = [(f"{mean:.3f}", column, f"fastest in {firsts[column]}") for mean, column in means]
    yield tabulate(table, tablefmt="plain", disable_numparse=True)
    if dropped:
        yield f"Rows left out, as a column has no time in them: {names(dropped)}"
    left_out = [column for column in columns if column not in ranked]
    if left_out:
        yield f"Not ranked, as they have half of the rows or fewer: {', '.join(left_out)}"


def names(rows: Sequence[tuple[str, int]]) -> str:
    """Name the first rows, with their threads where only these tell rows apart, and count the others."""
    several = len(dict(rows)) < len(rows)
    named = [f"{row}, {threads} thread{'s' * (threads != 1)}" if several else row for row, threads in rows[:NAMED]]
    more = [f"{len(rows) - NAMED} more"] if len(rows) > NAMED else []
    return ("; " if several else ", ").join([*named, *more])


def mean_distance(rows: Sequence[Mapping[str, float]], columns: Sequence[str], column: str) -> float:
    """Return the geometric mean of a column's times over the fastest one of each row."""
    logs = [math.log(row[column] / min(row[one] for one in columns)) for row in rows]
    return math.exp(math.fsum(logs) / len(logs))
