"""Writes what a bisection found: the release, the size of the change, and the pairs that show it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import counted

if TYPE_CHECKING:
    from bench.cell import Cell

    from ..measuring.bisection_run import Bisected
    from ..statistics.bisection import Change
    from ..statistics.bootstrap import Estimate
    from ..statistics.location import FloatArray

#: Letters of a reason that are printed; it ends with a whole word.
LONGEST_REASON = 200
#: The whole change is named where it is so many times the first step, in logarithms.
WHOLE = 1.5


def report(found: Bisected, cells: Sequence[Cell], *, faster: bool = False) -> Iterator[str]:
    """Say in a sentence what was found, then what it rests on."""
    from ..statistics.bisection import Change, NoChange

    first = cells[0]
    end, names = found.end, found.releases
    yield f"{first.mode} {first.row}: {_sentence(found, faster)}"
    yield ""
    for (one, other), values in found.pairs.items():
        if len(values):
            yield f"  {one} against {other}: {_measured(values)}"
    for part in found.parts:
        if part.part is None:
            yield f"  {part.component}: cannot be exchanged alone: {_one_line(part.reason)}"
        else:
            yield f"  {part.component}: {part.part.value}"
    for name in (cell.environment for cell in cells if cell.environment in found.unavailable):
        yield f"  {name}: not measured: {_one_line(found.unavailable[name])}"
    built = {name for key in found.pairs for name in key}
    pairs = counted(sum(map(len, found.pairs.values())), "pair")
    yield f"  {counted(len(built), 'environment')} of {len(cells)} releases, {pairs} of processes"
    if isinstance(end, Change) and found.unavailable:
        order = [cell.environment for cell in cells]
        between = order[order.index(names[end.release - 1]) + 1 : order.index(names[end.release])]
        if between:
            yield f"  It may have come with a release between that was not measured: {', '.join(between)}"
    if found.is_cut:
        yield "  The budget is spent before the end. The same command continues."
    if isinstance(end, NoChange) and not end.settled:
        yield "  The pairs leave it open: the interval reaches further than 1 %. A quieter machine may settle it."


def _one_line(reason: str) -> str:
    return textwrap.shorten(reason, LONGEST_REASON, placeholder=" …")


def _sentence(found: Bisected, faster: bool) -> str:
    from ..statistics.bisection import Change, NoChange

    word = "faster" if faster else "slower"
    end, names = found.end, found.releases
    if len(names) < 2:
        return "fewer than two releases could be measured"
    if isinstance(end, Change):
        since = f"{_size(end.ratio.estimate)} since {names[end.release]} (against {names[end.release - 1]})"
        return since + _parts(found) + _later(found, end)
    if isinstance(end, NoChange) and end.settled:
        return f"{names[-1]} is not {word} than {names[0]}: {_size(end.ratio.estimate)}"
    if isinstance(end, NoChange):
        return f"open: whether {names[-1]} is {word} than {names[0]}: {_size(end.ratio.estimate)}"
    if end is None:
        return f"open: whether {names[-1]} is {word} than {names[0]}"
    place = f"{word} after {names[end.after]} and at the latest with {names[end.until]}"
    return place if found.is_cut else f"{place}; more pairs do not place it better"


def _later(found: Bisected, end: Change) -> str:
    """Say how large the whole change is, where more of it came with later releases."""
    last, first = found.releases[-1], found.releases[0]
    whole = found.pairs.get((last, first))
    if whole is None or not len(whole):
        return ""
    total = _estimate(whole)
    if abs(math.log(total.value)) < WHOLE * abs(math.log(end.ratio.estimate.value)):
        return ""
    return f"; from {first} to {last} {_size(total)}"


def _parts(found: Bisected) -> str:
    """Name what explains a change and what does not: ``; not Python, not NumPy; inseparable: CUDA``."""
    from ..statistics.attribution import Part

    named = {part: [one.component.name for one in found.parts if one.part is part] for part in (*Part, None)}
    said = [
        ", ".join(f"not {name}" for name in named[Part.NOT_IT]),
        ", ".join(f"it is {name}" for name in named[Part.IT]),
        ", ".join(f"in part or perhaps {name}" for name in named[Part.UNCLEAR]),
        f"inseparable: {', '.join(named[None])}" if named[None] else "",
    ]
    return "".join(f"; {text}" for text in said if text)


def _size(estimate: Estimate) -> str:
    value, ends = estimate.value, (estimate.low, estimate.high)
    word = "slower" if value > 1.0 else "faster"
    sign = 1.0 if value > 1.0 else -1.0
    shown = sorted(100.0 * sign * (end - 1.0) for end in ends if end is not None)
    interval = f" [{shown[0]:.1f}, {shown[-1]:.1f}]" if shown else ""
    return f"{100.0 * abs(value - 1.0):.1f} % {word}{interval}"


def _measured(values: FloatArray) -> str:
    found = _estimate(values)
    interval = "" if found.low is None or found.high is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.value:.3f}{interval}, {counted(len(values), 'pair')}"


def _estimate(values: FloatArray) -> Estimate:
    from ..statistics.pairs import estimate_ratio

    return estimate_ratio(values)
