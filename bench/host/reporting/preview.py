"""Knows how a plan is shown before anything is measured: cells, what is left out and why, and a rough time."""

from __future__ import annotations

from collections.abc import Iterable

from tabulate import tabulate

from bench.cell import Cell

from ..study.plan import Plan
from ..study.schema import Profile
from .words.numbers import count, duration

#: Seconds to start a process and import a framework while its neighbours do the same, as seen on two cores.
START_S = 2.0
#: Calibrating, checking and the untimed steps after each hand-over, as a share of the timed samples.
UNTIMED_SHARE = 0.5


def preview(plan: Plan) -> str:
    """Describe a plan for people: its table with what would run, the reasons, the sampling and a rough time."""
    reasons = list(dict.fromkeys(reason for _, reason in plan.excluded))
    marks = dict.fromkeys(plan.cells, "run") | {c: f"[{reasons.index(reason) + 1}]" for c, reason in plan.excluded}
    workloads = list(dict.fromkeys(cell.workload for cell in marks))
    everything = sorted(marks, key=lambda cell: workloads.index(cell.workload))
    rows, columns = _distinct(c.row for c in everything), _distinct(c.column for c in everything)
    if not everything:
        return "Nothing to measure: no chosen environment has the chosen modes."
    by_place = {(cell.row, cell.column): mark for cell, mark in marks.items()}
    body = [[row, *(by_place.get((row, column), "") for column in columns)] for row in rows]
    profile = plan.profile
    lines = [
        tabulate(body, headers=["workload/size/precision/device", *columns], tablefmt="simple"),
        "",
        *(f"[{number}] {reason}" for number, reason in enumerate(reasons, 1)),
        *([""] if reasons else []),
        f"{count(len(plan.cells), 'cell')} in {count(len(rows), 'row')} and {count(len(columns), 'column')}, "
        f"{len(plan.excluded)} left out; {count(plan.threads, 'thread')}.",
        f"Profile {profile.name}: {_rounds(profile)} of fresh processes, "
        f"{count(profile.samples, 'sample')} of {profile.sample_seconds:g} s per cell and round.",
        f"About {duration(estimate_s(plan))}, environments not included: {START_S:g} s to start a process, "
        f"{_first_calls(plan)} for a first call, and {1 + UNTIMED_SHARE:g} times "
        "the samples. Slow machines and large models take longer.",
    ]
    return "\n".join(lines)


def _rounds(profile: Profile) -> str:
    if profile.most_rounds is None or profile.most_rounds == profile.rounds:
        return count(profile.rounds, "round")
    return f"{profile.rounds} to {profile.most_rounds} rounds, until every verdict is settled,"


def _first_call_s(plan: Plan, cell: Cell) -> float:
    return plan.registry.facts(cell.framework).mode(cell.mode).first_call_s


def _first_calls(plan: Plan) -> str:
    seconds = {_first_call_s(plan, cell) for cell in plan.cells} or {0.0}
    return " to ".join(f"{s:g}" for s in dict.fromkeys((min(seconds), max(seconds)))) + " s"


def estimate_s(plan: Plan) -> float:
    """Estimate the seconds that a plan takes, one process after the other.

    The estimate uses the constants of this module and the facts of the frameworks.
    """
    sampling_s = plan.profile.samples * plan.profile.sample_seconds * (1 + UNTIMED_SHARE)
    once_s = sum(START_S + _first_call_s(plan, cell) + sampling_s for cell in plan.cells)
    return plan.profile.rounds * once_s


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
