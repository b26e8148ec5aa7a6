"""Lists the cells of one run by their speed-up over the baseline, the slowest first, with filters."""

from __future__ import annotations

import argparse
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bench.record import OK

from ..study import location
from . import announce, cell_filter, compare, exit_codes, run_choice
from .folding import fold, fold_rows

if TYPE_CHECKING:
    from ..analysis.quality import Quality
    from ..statistics.bootstrap import Estimate
    from ..storage.run_summary import CellSummary, RunSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    run_choice.add_argument(parser)
    cell_filter.add_arguments(parser)
    parser.add_argument(
        "--slower-than",
        type=cell_filter.factor,
        metavar="1.2",
        help="only cells that take so many times the baseline's time",
    )
    orders = ("speed-up", "time", "name")
    parser.add_argument("--sort", choices=orders, default=orders[0], help="speed-up by default, the slowest first")


def run(options: argparse.Namespace) -> int:
    summary = run_choice.find(options, options.run)
    cell_filter.verify(options, summary.cells)
    announce("\n".join(_lines(summary, options)))
    return exit_codes.EXIT_OK


def _lines(summary: RunSummary, options: argparse.Namespace) -> Iterator[str]:
    from tabulate import tabulate

    from ..analysis.quality import Quality
    from ..analysis.summaries import grade_of, with_disturbed_baselines
    from ..reporting.words.answer import MARKS
    from ..reporting.words.quality import meaning

    wanted = cell_filter.chosen(options)
    cells = [cell for cell in summary.cells if wanted(cell)]
    without_ratio = with_disturbed_baselines(summary)
    shown = [
        (cell, time, None if cell.key in without_ratio else speed_up(cell))
        for cell in cells
        if (time := step_s(cell)) is not None
    ]
    if options.slower_than is not None:
        shown = [one for one in shown if one[2] is not None and one[2].value * options.slower_than < 1.0]
    orders = {
        "speed-up": lambda one: one[2].value if one[2] else math.inf,
        "time": lambda one: -one[1],
        "name": lambda one: one[0].name,
    }
    shown.sort(key=orders[options.sort])
    yield fold(run_choice.describe(summary.facts))
    yield fold(f"Speed-ups over {summary.facts.baseline}, by pairs of processes; 2.0 is twice as fast.")
    grades = [grade_of(cell, found) for cell, _, found in shown]
    rows = list(_rows(shown, grades))
    if rows:
        yield from fold_rows(tabulate(rows, tablefmt="plain", disable_numparse=True), [row[-1] for row in rows])
    else:
        yield "No cell is to be shown."
    marked = [
        f"{MARKS[grade]} {meaning(grade)} ({grades.count(grade)})"
        for grade in (Quality.NOISY, Quality.UNSTEADY)
        if grade in grades
    ]
    if marked:
        yield fold("   ".join(marked))
    others = Counter(_lack(cell) for cell in cells if step_s(cell) is None)
    if others:
        yield fold(f"Without a time: {', '.join(f'{count} {status}' for status, count in others.items())}")


def _rows(
    shown: Sequence[tuple[CellSummary, float, Estimate | None]], grades: Sequence[Quality | None]
) -> Iterator[tuple[str, ...]]:
    """Write each cell with its speed-up, if it has one, and its time; what the grade is about has its mark."""
    from ..reporting.words.answer import MARKS
    from ..reporting.words.numbers import TIMES, choose_unit, fixed

    same = compare.shared_suffix([cell.row for cell, _, _ in shown])
    for (cell, time, found), grade in zip(shown, grades, strict=True):
        unit = choose_unit([time], TIMES)
        value, interval = ("", "") if found is None else compare.ratio_words(found)
        mark = "" if grade is None else MARKS[grade]
        of_ratio, of_time = (mark, "") if value else ("", mark)
        step = f"{fixed(time / unit.size, 2)} {unit.name}{of_time}"
        yield f"{value}{of_ratio}", interval, step, cell.name.removesuffix(same)


def step_s(cell: CellSummary) -> float | None:
    """Return the median of the processes' times; None where there is none that can be used, as in reports."""
    from ..analysis.summaries import is_usable

    return statistics.median(cell.step_s) if is_usable(cell) else None


def _lack(cell: CellSummary) -> str:
    """Say why a cell has no time."""
    return cell.status if cell.status != OK or not cell.step_s else "disturbed by other programs"


def speed_up(cell: CellSummary) -> Estimate | None:
    """Return the speed-up over the baseline, as tables show it; None for the baseline itself."""
    import numpy as np

    from ..analysis.speed_ups import inverse
    from ..statistics.pairs import estimate_ratio

    return inverse(estimate_ratio(np.array(cell.log_ratios))) if cell.log_ratios else None
