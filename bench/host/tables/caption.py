"""Knows the words around a table: under which conditions it was measured, and how to read it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cell import Cell

from ..statistics.bootstrap import LEVEL, attainable_level
from ..statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from .footnotes import versions
from .results import Result
from .table import printable, sentence

#: How a verdict is written behind a ratio.
VERDICT_MARKS = {Verdict.DIFFERENT: "*", Verdict.EQUIVALENT: "≈", Verdict.INCONCLUSIVE: "?"}


@dataclass(frozen=True)
class Conditions:
    """What ``run.json`` says that a reader of the table must know."""

    name: str
    title: str
    baseline: str | None
    profile: str
    #: Whether compiled code stays between runs, shared by the cells of an environment.
    cache_kept: bool
    planned: tuple[Cell, ...]
    excluded: tuple[tuple[Cell, str], ...]
    seed: Any = None
    machine: str = ""
    finished: bool = True

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> Conditions:
        """Read a run; what an unfinished or older one lacks is left out."""
        study, machine = run.get("study") or {}, run.get("machine") or {}
        name = str(study.get("name") or "study")
        profile = run.get("profile") or {}
        gpus = dict.fromkeys(str(gpu.get("name")) for gpu in machine.get("gpus") or ())
        return cls(
            name=name,
            title=printable(str(study.get("title") or name)).rstrip("."),
            baseline=study.get("baseline"),
            profile=str(profile.get("name") or "unnamed"),
            cache_kept=profile.get("compile_cache") == "kept",
            planned=tuple(Cell.from_json(cell) for cell in run.get("planned") or ()),
            excluded=tuple((Cell.from_json(cell), str(reason)) for cell, reason in run.get("excluded") or ()),
            seed=run.get("seed"),
            machine=" with ".join(filter(None, (str(machine.get("processor") or ""), ", ".join(gpus)))),
            finished=bool(run.get("finished", True)),
        )


def describe_conditions(conditions: Conditions, results: Sequence[Result]) -> str:
    """Say how, where and when the table was measured."""
    records = [record for result in results for record in result.records]
    rounds = len({record.round for record in records})
    started = min((record.started_at for record in records if record.started_at), default=None)
    day = datetime.datetime.fromtimestamp(started, datetime.UTC).date().isoformat() if started else ""
    text = sentence(
        (
            f"Profile {conditions.profile}, {count(rounds, 'round')} of fresh processes"
            + (f", seed {conditions.seed}" if conditions.seed is not None else ""),
            conditions.machine,
            day,
        )
    )
    return text if conditions.finished else f"{text} Partial: the run has not finished."


def count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def interval_remark(results: Iterable[Result]) -> str:
    """Say what the intervals are, and what they cannot be where there are few processes."""
    fewest = min((result.step.n for result in results if result.step is not None), default=0)
    if not fewest:
        return ""
    text = f"Intervals: {LEVEL:.0%} bootstrap over processes."
    if fewest == 1:
        return f"{text} One process gives none."
    if attainable_level(fewest) < LEVEL:
        text += f" Those from {fewest} processes are their range, which covers the true median in at most "
        text += f"{attainable_level(fewest):.0%} of cases."
    return text


def verdict_remark(results: Iterable[Result]) -> str:
    """Explain the marks behind the ratios, or why there are none."""
    ratios = [result for result in results if result.ratio is not None]
    judged = [result for result in ratios if result.verdict is not None]
    if not ratios:
        return ""
    if not judged:
        return f"No verdicts on the ratios: they need at least {minimum_pairs()} pairs of processes."
    meanings = {
        Verdict.DIFFERENT: f"different (by {THRESHOLD:.0%} or more)",
        Verdict.EQUIVALENT: f"equivalent (interval within ±{THRESHOLD:.0%})",
        Verdict.INCONCLUSIVE: "inconclusive",
    }
    legend = ", ".join(f"{VERDICT_MARKS[verdict]} {meaning}" for verdict, meaning in meanings.items())
    return (
        f"Verdicts: {legend}; exact signed-rank test over pairs of processes at {ALPHA:.0%}, "
        f"Benjamini-Hochberg over {count(len(judged), 'comparison')}."
    )


def ratio_remark(results: Iterable[Result]) -> str:
    """Say how the ratios are estimated."""
    if all(result.ratio is None for result in results):
        return ""
    return (
        "Ratios: Hodges-Lehmann estimate and bootstrap interval over pairs of processes that took turns, "
        "from the median over the turns of each pair."
    )


def baseline_remark(results: Iterable[Result], conditions: Conditions) -> str:
    """Say that there are no ratios because the baseline is not among the cells."""
    if conditions.baseline is None or any(result.cell.column == conditions.baseline for result in results):
        return ""
    return f"No ratios: the baseline {conditions.baseline} is not part of this run."


def cache_remark(results: Iterable[Result], conditions: Conditions) -> str:
    """Say that a cold first call may not have been cold, where compiled code stays between runs."""
    if not conditions.cache_kept or all(result.first_call_s("cold") is None for result in results):
        return ""
    return (
        "First calls: the cells of an environment share compiled code that stays between runs, so that a cold first "
        "call may have found what another cell left (headers, kernels); profile standard measures it with empty caches."
    )


def environment_remark(results: Iterable[Result]) -> str:
    text = versions(results)
    return f"Environments: {text}." if text else ""
