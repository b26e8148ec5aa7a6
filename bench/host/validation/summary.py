"""Knows what traces come to: how often identical cells were called different, how many planted slowdowns were found.

It starts from the stored pairs, so that the inference can be proved again without measuring again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tabulate import tabulate

from ..statistics import stopping
from ..statistics.pairs import Ratio
from ..statistics.rates import Rate, rate
from ..statistics.signed_rank import signed_rank_p
from ..statistics.verdict import ALPHA, THRESHOLD, Verdict, decide
from .trial import Trace

#: The share of slowdowns by the practical threshold that are to be found.
POWER = 0.95


@dataclass(frozen=True)
class Outcome:
    """The verdict on one trial."""

    trace: Trace
    #: None where nothing could be measured.
    ratio: Ratio | None
    #: None where there is too little for a verdict.
    verdict: Verdict | None
    #: The p value of the pairs before the first look alone, of which no rule has chosen the number.
    first_p: float | None = None

    @property
    def found(self) -> bool:
        """Tell whether the twin was called different, and slower where work was planted."""
        if self.ratio is None or self.verdict is not Verdict.DIFFERENT:
            return False
        return not self.trace.trial.slowdown or self.ratio.estimate.value > 1.0


@dataclass(frozen=True)
class Kind:
    """All trials with the same planted slowdown."""

    slowdown: float
    outcomes: tuple[Outcome, ...]

    @property
    def measured(self) -> tuple[Outcome, ...]:
        """The trials that came to anything; what could not be measured is no success."""
        return tuple(outcome for outcome in self.outcomes if outcome.ratio is not None)

    @property
    def found(self) -> Rate:
        """The rate of *different*: of those measured where nothing was planted, of all where something was."""
        counted = self.outcomes if self.slowdown else self.measured
        return rate(sum(outcome.found for outcome in counted), len(counted))

    def count(self, verdict: Verdict | None) -> int:
        return [outcome.verdict for outcome in self.outcomes].count(verdict)


def judge(trace: Trace) -> Outcome:
    """Give the verdict on a trace as a study would on its only comparison, without a noise floor."""
    found = [(pair, value) for pair in trace.pairs if (value := pair.log_ratio) is not None]
    rounds = np.array([pair.round for pair, _ in found], dtype=np.int64)
    log_ratios = np.array([value for _, value in found])
    ratio = stopping.sequential_ratio(rounds, log_ratios, trace.looks, trace.rounds)
    if ratio is not None:
        ratio = replace(ratio, disturbed=sum(pair.disturbed for pair, _ in found) / len(found))
    first = log_ratios[rounds < trace.looks[0]]
    raw = signed_rank_p(first) if trace.rounds >= trace.looks[0] and len(first) else None
    return Outcome(trace, ratio, None if ratio is None else decide(ratio, ratio.p), raw)


def kinds(traces: Iterable[Trace]) -> list[Kind]:
    """Judge all traces and group them by what was planted."""
    found: dict[float, list[Outcome]] = {}
    for trace in traces:
        found.setdefault(trace.trial.slowdown, []).append(judge(trace))
    return [Kind(slowdown, tuple(found[slowdown])) for slowdown in sorted(found)]


def noise_quantile(kind: Kind, probability: float = 0.99) -> float | None:
    """Return the quantile of |ratio - 1| between identical cells: what noise alone makes of no difference."""
    estimates = [abs(math.log(outcome.ratio.estimate.value)) for outcome in kind.outcomes if outcome.ratio]
    return math.expm1(float(np.quantile(estimates, probability))) if estimates else None


def describe(found: Sequence[Kind]) -> str:
    """Write what the validation came to, for people."""
    headers = ["planted", "comparisons", "different", "95 % bounds", "equivalent", "inconclusive", "none",
               "s per cell, median", "s per cell, most", "rounds, median"]  # fmt: skip
    rows = []
    for kind in found:
        seconds = [outcome.trace.seconds / 2 for outcome in kind.outcomes]
        rows.append([
            _planted(kind),
            len(kind.outcomes),
            kind.found.count,
            f"{kind.found.low:.1%} to {kind.found.high:.1%}",
            kind.count(Verdict.EQUIVALENT),
            kind.count(Verdict.INCONCLUSIVE),
            kind.count(None),
            f"{np.median(seconds):.1f}",
            f"{max(seconds):.1f}",
            f"{np.median([outcome.trace.rounds for outcome in kind.outcomes]):g}",
        ])  # fmt: skip
    lines = [tabulate(rows, headers, tablefmt="github", disable_numparse=True), ""]
    lines += [remark for kind in found for remark in remarks(kind)]
    return "\n".join(lines)


def _planted(kind: Kind) -> str:
    """Say what was planted, and what whole steps made of it."""
    if not kind.slowdown:
        return "nothing (A/A)"
    made = [outcome.trace.planted for outcome in kind.outcomes if outcome.ratio]
    really = f" ({min(made):.2%} to {max(made):.2%})" if made else ""
    return f"{kind.slowdown:.0%} more work{really}"


def calibration(kind: Kind) -> str:
    """Say whether identical cells look identical before any rule that stops, forgives or corrects."""
    p = [outcome.first_p for outcome in kind.outcomes if outcome.first_p is not None]
    if not p:
        return ""
    logs = np.array([math.log(outcome.ratio.estimate.value) for outcome in kind.outcomes if outcome.ratio])
    shares = ", ".join(f"p ≤ {level:.0%} in {sum(value <= level for value in p)}" for level in (0.05, 0.01))
    return (
        f"Of {len(p)} comparisons of identical cells, each by its first look's pairs alone, {shares}. "
        f"The estimates are on average {math.expm1(float(logs.mean())):+.3%} off, "
        f"{int((logs > 0).sum())} of {len(logs)} above 1 (signed-rank p {signed_rank_p(logs):.2g})."
    )


def bound(kind: Kind) -> list[str]:
    """Say what the rate proves: its one-sided bound."""
    if not kind.outcomes:
        return []
    if not kind.slowdown:
        return [f"With 95 % confidence at most {kind.found.at_most:.2%} of identical cells are called different."]
    if kind.slowdown < THRESHOLD:
        return []
    return [f"With 95 % confidence at least {kind.found.at_least:.1%} of slowdowns by {kind.slowdown:.0%} are found."]


def broken_promises(found: Sequence[Kind]) -> list[str]:
    """Say which promises the rates refute: their 95 % bounds leave no room for what was promised."""
    said = []
    for kind in found:
        if not kind.measured:
            said.append(f"Not proved: none of the comparisons with {_planted(kind)} could be measured.")
            continue
        if not kind.slowdown and kind.found.low > ALPHA:
            said.append(f"Not kept: identical cells are called different in more than {ALPHA:.0%} of comparisons.")
        if kind.slowdown >= THRESHOLD and kind.found.high < POWER:
            said.append(f"Not kept: of slowdowns by {kind.slowdown:.0%}, fewer than {POWER:.0%} are found.")
    return said


def remarks(kind: Kind) -> list[str]:
    """Say in words what a line of the table means, and name what could not be measured."""
    said = []
    noise = noise_quantile(kind) if not kind.slowdown else None
    said += bound(kind)
    if noise is not None:
        said.append(calibration(kind))
        said.append(f"Between identical cells 99 % of the estimated ratios were within {noise:.2%} of 1.")
    for outcome in kind.outcomes:
        trial = outcome.trace.trial
        if outcome.ratio is None:
            said.append(f"Trial {trial.number} ({trial.cell.name}) has no verdict: {outcome.trace.reason or 'pairs'}.")
        elif outcome.found != bool(kind.slowdown) and kind.slowdown != 0.01:
            what = "missed" if kind.slowdown else "a false alarm"
            said.append(
                f"Trial {trial.number} ({trial.cell.name}) is {what}: ratio {outcome.ratio.estimate.value:.4f}."
            )
    return said
