"""Words comparisons with the baseline, each in a sentence: which cell, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cell import Cell

from ...analysis.results import Result
from ...analysis.speed_ups import inverse
from ...statistics.pairs import excludes_equality
from ...statistics.verdict import ALPHA, Verdict
from .labels import Labels
from .language import _
from .numbers import format_interval, format_value, percent


@dataclass(frozen=True)
class Naming:
    """What the cells of sentences are called, and what their numbers are over."""

    labels: Labels
    #: {cell: the name of its row}
    rows: Mapping[Cell, str]
    #: {column: that of the version before}, where each version is compared with that.
    before: Mapping[str, str]
    #: Whether all sentences say how long a cell takes, as the table does.
    as_ratios: bool = False


def every_comparison(compared: Sequence[Result], naming: Naming, most: int) -> list[str]:
    """Tell every comparison that has an interval, the clearest gain first; none where there are more than ``most``."""
    known = sorted(_known(compared), key=lambda result: (_clearness(result) > 0, *_by_interest(result)), reverse=True)
    return [_sentence(result, naming) for result in known] if len(known) <= most else []


def clearest_comparisons(compared: Sequence[Result], naming: Naming, most: int) -> list[str]:
    """Tell for ``most`` columns in which row each differs most clearly from the baseline, the clearest gain first.

    The rows are those of the usual number of threads, over which columns have a mean: where one row has a single
    thread, because its steps are short, the largest ratios are often there and say the least. Where there are verdicts,
    only a firm difference is told; where there are none, one that is clear among all comparisons. Where each version is
    compared with the one before, the clearest loss comes first: a reader asks whether to upgrade.
    """
    clearest = _clearest(_known(compared), losses_first=bool(naming.before))
    return [_sentence(result, naming) for result in clearest[:most]]


def _known(compared: Sequence[Result]) -> list[Result]:
    return [result for result in compared if result.ratio is not None and result.ratio.estimate.low is not None]


def _clearest(known: Sequence[Result], *, losses_first: bool) -> list[Result]:
    """Return the clearest difference of each column, ordered by what a reader asks first."""
    judged = [result for result in known if result.verdict is not None]
    told = [result for result in judged if result.verdict is Verdict.DIFFERENT] if judged else _clear_of_all(known)
    clear = sorted((result for result in told if _clearness(result)), key=_by_interest, reverse=True)
    (usual, _count), *_others = Counter(result.cell.threads for result in known).most_common(1) or [(0, 0)]
    clear = [result for result in clear if result.cell.threads == usual] or clear
    gains, losses = ([result for result in clear if _is_faster(result) == faster] for faster in (True, False))
    of_columns: dict[str, Result] = {}
    for result in sorted(clear, key=_clearness, reverse=True):
        of_columns.setdefault(result.cell.column, result)
    first = [*losses[:1], *gains[:1]] if losses_first else clear[:1]
    others = sorted((result for result in of_columns.values() if result not in first), key=_by_interest, reverse=True)
    return [*first, *others]


def _clear_of_all(known: Sequence[Result]) -> list[Result]:
    ratios = [(result, result.ratio.estimate) for result in known if result.ratio is not None]
    return [result for result, estimate in ratios if excludes_equality(estimate, len(known))]


def _by_interest(result: Result) -> tuple[bool, float]:
    """Order comparisons: a reader asks first what is faster."""
    return _is_faster(result), _clearness(result)


def _is_faster(result: Result) -> bool:
    assert result.ratio is not None
    return result.ratio.estimate.value < 1.0


def _clearness(result: Result) -> float:
    """Return the end of the interval that is nearer to equality, as a logarithm; 0 where equality is inside."""
    assert result.ratio is not None
    low, high = result.ratio.estimate.low, result.ratio.estimate.high
    if low is None or high is None:
        return 0.0
    return max(0.0, math.log(low), -math.log(high))


def _sentence(result: Result, naming: Naming) -> str:
    """Word one comparison: ``gemm: JAX 0.10 jit is 2.4 times as fast …``.

    The caption names the baseline; only the version before is another one for every column.
    """
    assert result.ratio is not None
    labels, before, as_ratios = naming.labels, naming.before.get(result.cell.column), naming.as_ratios
    ratio, faster = result.ratio.estimate, _is_faster(result) and not as_ratios
    shown = inverse(ratio) if faster else ratio
    said = {"row": naming.rows[result.cell], "column": labels[result.cell.column].short, "factor": format_value(shown)}
    said["interval"] = format_interval(shown)
    if not _clearness(result) and result.verdict is None:
        said["interval"] = format_interval(ratio if as_ratios else inverse(ratio))
        return _("{row}: {column} is neither clearly faster nor slower {interval}.", **said)
    if before is not None:
        said["version"] = labels[before].version
        text = (
            _("{row}: {column} is {factor} times as fast as {version} {interval}", **said)
            if faster
            else _("{row}: {column} takes {factor} times as long as {version} {interval}", **said)
        )
    else:
        text = (
            _("{row}: {column} is {factor} times as fast {interval}", **said)
            if faster
            else _("{row}: {column} takes {factor} times as long {interval}", **said)
        )
    return text + (_(", certain at {level}.", level=percent(ALPHA)) if result.verdict is Verdict.DIFFERENT else ".")
