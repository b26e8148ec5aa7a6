"""Finds the release of a framework with which a workload became slower, and what else may have made it so."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import Refused
from ..study import options as study_options
from . import announce, exit_codes
from .run import announce_shortcomings

if TYPE_CHECKING:
    from bench.cell import Cell

    from ..measuring.bisection_run import Bisected
    from ..statistics.bisection import Change
    from ..statistics.bootstrap import Estimate
    from ..statistics.location import FloatArray
    from ..study.plan import Plan
    from ..study.schema import Study

#: Letters of a reason that are printed.
LONGEST_REASON = 200
#: The whole change is named where it is so many times the first step, in logarithms.
WHOLE = 1.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", metavar="FAMILY", help="the table of environments that lists versions")
    parser.add_argument("--faster", action="store_true", help="look for a release that became faster")
    parser.add_argument(
        "--keep",
        type=study_options.size,
        metavar="SIZE",
        help="remove environments of the family that are not needed where all of them exceed this, such as 20GiB",
    )
    parser.add_argument(
        "--no-attribution", action="store_true", help="do not exchange Python, NumPy and the rest one by one"
    )
    study_options.add_selection_arguments(parser)
    parser.add_argument(
        "--budget",
        type=study_options.duration,
        metavar="TIME",
        help="time for measuring, such as 10m or 2h; then the bisection ends with what is known, and the same command "
        "continues it",
    )
    # Of a table with a baseline, which a bisection does not make.
    parser.set_defaults(strict=False, largest_batch=None, baseline=None, ratios=None)


def run(options: argparse.Namespace) -> int:
    from ..interrupts import interrupted_by_signals
    from ..storage.run_lock import exclusive
    from ..study import selection

    study = selection.with_interpreters(study_options.read_study(options), options)
    plan, cells = releases(study, options)
    for cell, why in plan.excluded:
        announce(f"Left out: {cell.environment}: {why}")
    if options.dry_run:
        announce(f"{len(cells)} releases: {', '.join(cell.environment for cell in cells)}")
        announce(f"{cells[0].mode} {cells[0].row}, two releases at a time; the first two are the ends")
        announce_shortcomings(study, replace(plan, cells=tuple(cells)), options)
        return exit_codes.EXIT_OK
    with exclusive(options.root), interrupted_by_signals():
        found = measure(study, plan, cells, options)
    announce("")
    announce("\n".join(report(found, cells, faster=options.faster)))
    return exit_codes.EXIT_OK if len(found.releases) > 1 else exit_codes.EXIT_FAILED


def releases(study: Study, options: argparse.Namespace) -> tuple[Plan, list[Cell]]:
    """Return the cell of each release of the family, the oldest first. Raises Refused where rows are several."""
    from ..study import selection
    from ..study.suggestion import unknown
    from ..study.twin import is_twin

    members = [name for name, one in study.environments.items() if one.family == options.family]
    if not members:
        families = list(dict.fromkeys(one.family for one in study.environments.values() if one.family))
        problem = unknown("family", options.family, families) if families else "no table of this study lists versions."
        raise Refused(f"{options.family}: {problem} A family is a table of environments with versions = […].")
    plan = selection.from_options(study, options, environments=members)
    cells = [cell for cell in plan.cells if not is_twin(cell)]
    kinds = list(dict.fromkeys((cell.mode, cell.row, cell.threads) for cell in cells))
    if len(kinds) > 1:
        shown = ", ".join(f"{mode} {row}" for mode, row, _ in kinds[:5])
        raise Refused(
            f"A bisection has one workload and one mode; chosen are {len(kinds)}: {shown}"
            f"{' …' if len(kinds) > 5 else ''}. Choose with --workload, --mode, --size, --precision and --threads."
        )
    if len(cells) < 2:
        raise Refused(f"{options.family} has {len(cells)} releases that can be measured so; a bisection needs two.")
    return plan, cells


def measure(study: Study, plan: Plan, cells: Sequence[Cell], options: argparse.Namespace) -> Bisected:
    """Bisect the releases, and attribute a change that was found; what was measured before is continued."""
    from rich.console import Console

    from .. import environments
    from ..environments import removal
    from ..measuring.bisection_run import BisectionRun
    from ..measuring.pair_measurement import PairMeasurement
    from ..storage import archive
    from ..storage.compile_caches import slug
    from ..storage.moves import BISECTIONS

    folder = archive.folder_of(options.root, study.settings.name) / BISECTIONS
    first = cells[0]
    # Verdicts were validated with a process for every cell.
    chosen = {"workers": "own", "peaks": False, "twin": False, "trial": False, "compile_cache": "kept"}
    profile = plan.profile.model_copy(update=chosen)
    measurement = PairMeasurement(
        options.root, folder / slug(f"{options.family}-{first.mode}-{first.row}"), study, profile, plan.seed, Console()
    )

    def prune(needed: Sequence[str]) -> None:
        if options.keep is not None:
            built = measured.measurement.study.environments
            family = [name for name, one in built.items() if one.family == options.family]
            removal.prune(family, needed, options.keep, options.root, announce)

    measured = BisectionRun(
        measurement,
        cells,
        lambda environment: environments.prepare(
            environment,
            root=options.root,
            announce=announce,
            registry=study.registry,
            thorough=options.verify or profile.verify,
        ),
        prune,
        announce,
        options.faster,
        options.budget,
    )
    found = measured.bisect()
    return found if options.no_attribution else measured.attribute(found)


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
    return " ".join(reason.split())[:LONGEST_REASON]


def _sentence(found: Bisected, faster: bool) -> str:
    from ..statistics.bisection import Change, NoChange

    word = "faster" if faster else "slower"
    end, names = found.end, found.releases
    if len(names) < 2:
        return "fewer than two releases could be measured"
    if isinstance(end, Change):
        since = f"{_size(end.ratio.estimate)} since {names[end.release]} (against {names[end.release - 1]})"
        return since + _parts(found) + _later(found, end)
    if isinstance(end, NoChange):
        return f"{names[-1]} is not {word} than {names[0]}: {_size(end.ratio.estimate)}"
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
