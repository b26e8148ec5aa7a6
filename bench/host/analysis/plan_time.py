"""Estimates how long a plan takes: as long as the run that it repeats, or by facts of the frameworks."""

from __future__ import annotations

from bench.cell import Cell
from bench.frameworks.facts import Mode

from ..storage.manifest import Manifest, ProfileSummary
from ..study.plan import Plan

#: Seconds to start a process and import a framework while its neighbours do the same, and to fork one that finds it
#: imported; both as seen on two cores.
START_S, FORK_S = 2.0, 0.3
#: Seconds of what a mode's first call imports, in a process that was not forked from one that has imported it.
PRELOADS_S = 2.5
#: Calibrating, checking and the untimed steps after each hand-over, as a share of the timed samples.
UNTIMED_SHARE = 0.5


def estimate_s(plan: Plan, before: Manifest | None = None) -> float:
    """Estimate the seconds that a plan takes, one process after the other.

    A run ``before`` that measured the same tells. Without one, the estimate uses the constants of this module and the
    facts of the frameworks.
    """
    if before is not None and repeats(plan, before):
        return before.seconds.elapsed
    sampling_s = plan.profile.samples * plan.profile.sample_seconds * (1 + UNTIMED_SHARE)
    once_s = sum(_start_s(plan, cell) + _mode(plan, cell).first_call_s + sampling_s for cell in plan.cells)
    compiled = 1 if plan.profile.compile_cache == "kept" else plan.profile.rounds
    return plan.profile.rounds * once_s + compiled * compiling_s(plan)


def compiling_s(plan: Plan) -> float:
    """Return the seconds that first calls take longer with an empty compilation cache."""
    return sum(_mode(plan, cell).compile_s for cell in plan.cells)


def repeats(plan: Plan, before: Manifest) -> bool:
    """Tell whether an earlier run measured what the plan says, all of it and nothing else."""
    whole = before.finished and before.budget_s is None and before.seconds.elapsed > 0
    profile = ProfileSummary.of(plan.profile)
    return whole and before.planned == tuple(plan.cells) and before.profile == profile


def _start_s(plan: Plan, cell: Cell) -> float:
    if plan.profile.workers == "forked":
        return FORK_S
    return START_S + (PRELOADS_S if _mode(plan, cell).preloads else 0.0)


def _mode(plan: Plan, cell: Cell) -> Mode:
    return plan.registry.facts(cell.framework).mode(cell.mode)
