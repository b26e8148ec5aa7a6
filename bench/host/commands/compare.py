"""Compares two stored runs, such as of two machines, or before and after an update of a driver."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused, harmless
from ..study import location
from ..system import EXIT_GATE
from . import announce, cell_filter, exit_codes, run_choice
from .folding import fold, fold_prose, fold_rows

if TYPE_CHECKING:
    from ..analysis.run_comparison import CellChange, RunComparison
    from ..statistics.bootstrap import Estimate

#: Cells and changes that are printed without --all.
MOST_CELLS, MOST_CHANGES, MOST_UNCOMPARED = 40, 20, 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    parser.add_argument("before", metavar="BEFORE", help="a folder with records, a file of a series, or a run's name")
    parser.add_argument("after", metavar="AFTER", help="the run that it is compared with")
    cell_filter.add_arguments(parser)
    parser.add_argument(
        "--slower-than", type=cell_filter.factor, metavar="1.2", help="only cells that became slower by this factor"
    )
    parser.add_argument(
        "--relative",
        action="store_true",
        help="compare the ratios to the baseline of each run: what changed for all cells alike cancels",
    )
    parser.add_argument(
        "--any-settings",
        action="store_true",
        help="give a ratio, too, where settings differ that a user could have made equal",
    )
    parser.add_argument("--all", action="store_true", help="print every cell, change and reason")
    parser.add_argument(
        "--fail-if",
        type=exit_codes.gate_limit,
        metavar="slower:5%",
        help="exit with 3 where a cell became slower by more than this, was lost, or has no verdict on it",
    )


def run(options: argparse.Namespace) -> int:
    from ..analysis.run_comparison import compare_runs

    one, other = (run_choice.locate(options, name) for name in (options.before, options.after))
    before = run_choice.load(one)
    # A run that is compared with itself is read once, so its damaged lines are told once.
    after = before if one.resolve() == other.resolve() else run_choice.load(other)
    for summary in (before, after):
        if summary.facts.trial:
            raise Refused(f"{summary.facts.name} is a trial: its times mean nothing. Compare runs of another profile.")
    if options.fail_if is not None and before.facts.run == after.facts.run:
        raise Refused(f"--fail-if: {options.before} and {options.after} are the same run; name the one before it.")
    cell_filter.verify(options, [*before.cells, *after.cells])
    chosen = cell_filter.chosen(options)
    found = compare_runs(before, after, chosen, relative=options.relative, any_settings=options.any_settings)
    announce("\n".join(_lines(found, options)))
    return exit_codes.EXIT_OK if options.fail_if is None else _gate(found, options.fail_if)


def _lines(found: RunComparison, options: argparse.Namespace) -> Iterator[str]:
    yield fold(f"before  {run_choice.describe(found.before.facts)}", len("before  "))
    yield fold(f"after   {run_choice.describe(found.after.facts)}", len("before  "))
    if found.before.facts.run == found.after.facts.run:
        yield fold_prose("These are the same run, which cannot differ from itself.")
    elif found.before.facts.started > found.after.facts.started:
        yield fold_prose("The second run is the older one: slower means that it was slower than the newer one.")
    yield ""
    yield from _changes(found, options)
    yield fold_prose(
        "The runs' processes did not take turns: an interval covers what differs between processes of one run. What "
        "differs from run to run is part of every ratio, and two runs cannot show how large it is."
    )
    if found.controls is not None:
        low, middle, high = found.controls
        yield fold_prose(
            f"Cells whose environment did not change: ratios {low:.3f} to {high:.3f}, median {middle:.3f}."
        )
        yield fold_prose("A change of that size need not come from what changed.")
    if found.moved is not None:
        yield fold_prose(
            f"The median of all ratios is {found.moved:.3f}. What changed for all cells alike, such as the speed of "
            "the machine on that day, cancels with --relative."
        )
    yield ""
    yield from _table(found, options)
    yield from _uncompared(found, options)


def _changes(found: RunComparison, options: argparse.Namespace) -> Iterator[str]:
    if not found.changed:
        yield fold_prose("Nothing that the runs record about machine, versions and settings changed.")
        return
    most = len(found.changed) if options.all else MOST_CHANGES
    yield "Changed:"
    for what, before, after in found.changed[:most]:
        yield fold(f"  {what}: {before} → {after}")
    if len(found.changed) > most:
        yield f"  and {len(found.changed) - most} more: --all"


def _table(found: RunComparison, options: argparse.Namespace) -> Iterator[str]:
    from tabulate import tabulate

    from ..statistics.unpaired import FEWEST

    shown = [
        one for one in found.cells if options.slower_than is None or one.ratio.estimate.value > options.slower_than
    ]
    if not shown:
        yield "No cell is to be shown."
    else:
        most = len(shown) if options.all else MOST_CELLS
        what = "ratio to the baseline" if options.relative else "time"
        same = shared_suffix([one.after.row for one in shown[:most]])
        yield fold(f"{what} after / before (1.1 is slower){same and f', all {same[1:]}'}:")
        rows = [
            (*ratio_words(one.ratio.estimate), verdict_word(one), one.after.name.removesuffix(same))
            for one in shown[:most]
        ]
        yield from fold_rows(tabulate(rows, tablefmt="plain", disable_numparse=True), [row[-1] for row in rows])
        if len(shown) > most:
            yield f"and {len(shown) - most} more: --all"
    counts = Counter(verdict_word(one) for one in found.cells)
    yield ""
    listed = ", ".join(f"{count} {word}" for word, count in counts.items()) or "none"
    yield fold(f"{len(found.cells)} compared: {listed}")
    if any(one.verdict is None for one in found.cells):
        yield fold(f"A verdict needs {FEWEST} processes of both runs: --profile standard.")


def shared_suffix(rows: Sequence[str]) -> str:
    """Return what the names of all rows end with after the size: ``/float32/cpu``; empty where they differ."""
    suffixes = {"".join(f"/{part}" for part in row.split("/")[2:]) for row in rows}
    return suffixes.pop() if len(suffixes) == 1 else ""


def ratio_words(estimate: Estimate) -> tuple[str, str]:
    """Write a ratio and its interval."""
    from ..reporting.words.numbers import two_digits

    digits = max(3, two_digits(estimate.value))
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}", ""
    return f"{estimate.value:.{digits}f}", f"[{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def verdict_word(one: CellChange) -> str:
    """Write a verdict as a word."""
    from ..statistics.verdict import Verdict

    if one.verdict is None:
        return "no verdict"
    if one.verdict is Verdict.DIFFERENT:
        return "slower" if one.ratio.estimate.value > 1.0 else "faster"
    return {Verdict.EQUIVALENT: "same", Verdict.INCONCLUSIVE: "unclear"}[one.verdict]


def _uncompared(found: RunComparison, options: argparse.Namespace) -> Iterator[str]:
    if not found.uncompared:
        return
    yield f"{len(found.uncompared)} not compared:"
    reasons: dict[str, list[str]] = {}
    for one in found.uncompared:
        reasons.setdefault(one.why, []).append(one.name)
    for why, names in list(reasons.items())[: None if options.all else MOST_UNCOMPARED]:
        more = f" and {len(names) - 1} more" if len(names) > 1 and not options.all else ""
        yield fold(f"  {', '.join(names) if options.all else names[0]}{more}: {why}")
    if len(reasons) > MOST_UNCOMPARED and not options.all:
        yield f"  and {len(reasons) - MOST_UNCOMPARED} more: --all"


def _gate(found: RunComparison, limit: float) -> int:
    """Judge a comparison: slower cells, lost ones, and those without a verdict that settles them do not pass."""
    from ..statistics.verdict import Verdict, settles_limit

    slower = [one for one in found.cells if one.verdict is Verdict.DIFFERENT and one.ratio.estimate.value > 1.0 + limit]
    open_ = [one for one in found.cells if not settles_limit(one.ratio, one.verdict, limit)]
    lost = [one for one in found.uncompared if one.lost]
    said = [
        *(
            f"Slower by more than {100 * limit:g} %: {one.after.name}: {ratio_words(one.ratio.estimate)[0]}"
            for one in slower
        ),
        *(f"Measured before, and not after: {one.name}: {one.why}" for one in lost),
    ]
    if open_:
        cells = counted(len(open_), "cell")
        said.append(f"Not settled, so not within {100 * limit:g} %: {cells}, such as {open_[0].after.name}.")
    if not found.cells:
        said.append("Nothing was compared, so nothing shows that nothing is slower.")
    for line in said:
        print(harmless(line), file=sys.stderr)
    return EXIT_GATE if said else exit_codes.EXIT_OK
