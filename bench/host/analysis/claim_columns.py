"""Finds the columns and the results of a run that a claim compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.cell import Cell
from bench.record import OK

from ..study.claim import GRAPHS, MEMORY, Claim, same_environment
from ..study.patterns import fits
from .comparable_times import comparable
from .results import Result, columns_of
from .row_key import row_key


def compared_columns(claim: Claim, results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield each column that a claim names, with each that it is compared with; one alone is its own counterpart."""
    columns = columns_of(results)
    for column in columns:
        if any(fits(column, pattern) for pattern in claim.columns):
            others = [column] if claim.compares_with_itself else [c for c in columns if _is_against(claim, column, c)]
            yield from ((column, other) for other in others)


def _is_against(claim: Claim, column: str, other: str) -> bool:
    return other != column and any(matches(other, pattern, column) for pattern in claim.against)


def matches(column: str, pattern: str, beside: str) -> bool:
    """Tell whether a column fits a pattern of ``against``; that of a mode alone is of the environment of ``beside``."""
    if not same_environment(pattern):
        return fits(column, pattern)
    environment, mode = column.split(":", 1)
    return environment == beside.partition(":")[0] and fits(mode, pattern)


def compared_results(claim: Claim, column: str, against: str, results: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Return the results of two columns in the rows that count and that both have.

    Times that other programs disturbed do not count; they change neither the memory nor the graphs.
    """
    undisturbed = claim.quantity in (MEMORY, GRAPHS)
    usable = [result for result in results if comparable(result) or (undisturbed and result.status == OK)]
    others = {row_key(result.cell): result for result in usable if result.cell.column == against}
    by_workload = {_facets(one.cell): one for one in others.values() if one.cell.workload == claim.against_workload}
    found = []
    for result in usable:
        if result.cell.column == column and counts(claim, result.cell):
            other = others.get(row_key(result.cell))
            if claim.against_workload is not None:
                other = by_workload.get(_facets(result.cell))
            if other is not None:
                found.append((result, other))
    return found


def _facets(cell: Cell) -> tuple[str, str, str, int]:
    """Return what rows of two workloads must have in common."""
    return cell.size, cell.precision, cell.device, cell.threads


def counts(claim: Claim, cell: Cell) -> bool:
    """Tell whether a row counts for a claim."""
    if claim.workloads and not any(fits(cell.workload, pattern) for pattern in claim.workloads):
        return False
    pairs = (cell.size, claim.size), (cell.precision, claim.precision), (cell.device, claim.device)
    return all(pattern is None or fits(value, pattern) for value, pattern in pairs)


def unmeasured(claim: Claim, versus: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the patterns of a claim for which nothing was compared."""
    missing = [pattern for pattern in claim.columns if not any(fits(column, pattern) for column, _ in versus)]
    missing += [pattern for pattern in claim.against if not any(matches(b, pattern, a) for a, b in versus)]
    return tuple(dict.fromkeys(missing))
