"""Knows what containers cost: each cell in a container beside the same cell in the venv whose lock it shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..settling import rounds_of
from ..statistics.pairs import Ratio, pair_log_ratios
from ..statistics.stopping import sequential_ratio
from ..statistics.verdict import ALPHA, THRESHOLD, Verdict, adjust_for_discovery, decide
from ..stops import BUDGET
from .analysis import Analysis
from .caption import count, describe_conditions
from .conditions import Conditions
from .footnotes import remarks
from .quantity import format_interval, format_share, format_value
from .remarks import VERDICT_MARKS
from .results import Result, row_key, timed_processes
from .rows import row_name, varying
from .table import EMPTY, Column, Entry, Group, Table

COLUMNS = (
    Column("workload", "left"),
    Column("container", "left"),
    Column("venv", "left"),
    Column("ratio"),
    Column("interval", "left"),
    Column("verdict", "left"),
)


@dataclass(frozen=True)
class Cost:
    """The time of a cell in a container over its time in the venv of the same lock."""

    container: Result
    venv: Result
    #: None where one of the two has no time, or no two processes took turns.
    ratio: Ratio | None
    verdict: Verdict | None = None


def twins(environments: Mapping[str, Any]) -> dict[str, str]:
    """Return {container: venv} for every container that was built from the very lock of a venv of the run."""
    locks = {
        name: manifest.get("lock_hash")
        for name, manifest in environments.items()
        if manifest.get("provider") == "venv" and manifest.get("lock_hash")
    }
    return {
        name: manifest["lock"]
        for name, manifest in environments.items()
        if manifest.get("provider") == "container" and locks.get(manifest.get("lock")) == manifest.get("lock_hash")
        if manifest.get("lock") in locks
    }


def costs(analysis: Analysis, conditions: Conditions, environments: Mapping[str, Any]) -> list[Cost]:
    """Compare every container with its venv, row by row and mode by mode; p values are adjusted together."""
    pairs = twins(environments)
    there = {(row_key(result.cell), result.cell.column): result for result in analysis.results}
    found = []
    for result in analysis.results:
        venv = pairs.get(result.cell.environment)
        other = there.get((row_key(result.cell), f"{venv}:{result.cell.mode}"))
        if venv is not None and other is not None:
            found.append(Cost(result, other, _ratio(result, other, conditions)))
    return _judged(found, analysis.noise.floor.value if analysis.noise.floor else 0.0)


def _ratio(container: Result, venv: Result, conditions: Conditions) -> Ratio | None:
    mine, theirs = (timed_processes(result.records)[0] if result.step else {} for result in (container, venv))
    keys, log_ratios = pair_log_ratios(mine, theirs)
    rounds = 1 + max((record.round for result in (container, venv) for record in result.records), default=0)
    stop = conditions.stopped.get(container.cell.row)
    done = min(rounds, stop.rounds) if stop else rounds
    ended = stop is not None and stop.why == BUDGET
    return sequential_ratio(rounds_of(keys), log_ratios, conditions.looks or (rounds,), done, ended=ended)


def _judged(found: Sequence[Cost], floor: float) -> list[Cost]:
    compared = [i for i, cost in enumerate(found) if cost.ratio is not None]
    adjusted = adjust_for_discovery(np.array([ratio.p for cost in found if (ratio := cost.ratio) is not None]))
    judged = list(found)
    for i, p in zip(compared, adjusted.tolist(), strict=True):
        ratio = found[i].ratio
        assert ratio is not None
        judged[i] = replace(found[i], verdict=decide(ratio, p, floor=floor))
    return judged


def table(analysis: Analysis, conditions: Conditions, environments: Mapping[str, Any]) -> Table | None:
    """Make the table of what containers cost; None where no container has its venv beside it."""
    found = costs(analysis, conditions, environments)
    if not found:
        return None
    shown = varying(analysis.results)
    rows = tuple(_row(cost, shown) for cost in found)
    caption = (
        f"{conditions.title}, cost of the container: time in a container over time in the venv of the same lock, in "
        f"the same mode (above 1 the container is slower). {describe_conditions(conditions, analysis.results)}"
    )
    margin = max(THRESHOLD, analysis.noise.floor.value if analysis.noise.floor else 0.0)
    compared = sum(cost.ratio is not None for cost in found)
    meaning = (
        f"Verdicts: equivalent where the {1 - ALPHA:.0%} interval lies within ±{format_share(margin)}; exact "
        f"signed-rank test over pairs of processes at {ALPHA:.0%}, Benjamini-Hochberg over "
        f"{count(compared, 'comparison')}."
    )
    group = Group(Entry(""), ("",) * len(COLUMNS), rows)
    return Table(f"{conditions.name}-containers", "Containers", caption, COLUMNS, (group,), remarks(meaning))


def _row(cost: Cost, shown: Sequence[bool]) -> tuple[Entry, ...]:
    estimate = cost.ratio.estimate if cost.ratio else None
    verdict = f"{VERDICT_MARKS[cost.verdict]} {cost.verdict.value}" if cost.verdict else EMPTY
    return (
        Entry(row_name(cost.container.cell, shown)),
        Entry(cost.container.cell.column),
        Entry(cost.venv.cell.column),
        Entry(format_value(estimate)),
        Entry(format_interval(estimate)),
        Entry(verdict),
    )
