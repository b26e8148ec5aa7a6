"""Summarises a validation: how often identical cells were called different, how many planted slowdowns were found.

The summary starts from stored pairs, so that the inference can be validated again without measuring again.
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
from .trial import TrialData

#: The share of slowdowns of at least the practical threshold that must be found.
POWER = 0.95


@dataclass(frozen=True)
class TrialVerdict:
    """The verdict on one trial."""

    data: TrialData
    #: None where nothing could be measured.
    ratio: Ratio | None
    #: None where there is too little for a verdict.
    verdict: Verdict | None
    #: The p value of the pairs before the first look alone; no stopping rule has chosen their number.
    first_p: float | None

    @property
    def withheld(self) -> bool:
        """Whether a table would show no ratio: one of the cells was disturbed in half of its processes or more."""
        return self.ratio is not None and self.ratio.disturbed == 1.0

    @property
    def found(self) -> bool:
        """Whether the twin was called different, and slower where work was planted."""
        if self.ratio is None or self.withheld or self.verdict is not Verdict.DIFFERENT:
            return False
        return not self.data.trial.slowdown or self.ratio.estimate.value > 1.0


@dataclass(frozen=True)
class TrialGroup:
    """All trials with the same planted slowdown."""

    slowdown: float
    trials: tuple[TrialVerdict, ...]

    @property
    def measured(self) -> tuple[TrialVerdict, ...]:
        """The trials that have a ratio, and one that a table would show."""
        return tuple(trial for trial in self.trials if trial.ratio is not None and not trial.withheld)

    @property
    def found(self) -> Rate:
        """The rate of *different*: of those measured where nothing was planted, of all where something was."""
        counted = self.trials if self.slowdown else self.measured
        return rate(sum(trial.found for trial in counted), len(counted))

    def count(self, verdict: Verdict | None) -> int:
        return [None if trial.withheld else trial.verdict for trial in self.trials].count(verdict)


def judge(data: TrialData) -> TrialVerdict:
    """Return the verdict that a study would give if this were its only comparison, without a noise floor."""
    found = [(pair, value) for pair in data.pairs if (value := pair.log_ratio) is not None]
    rounds = np.array([pair.round for pair, _ in found], dtype=np.int64)
    log_ratios = np.array([value for _, value in found])
    ratio = stopping.sequential_ratio(rounds, log_ratios, data.looks, data.rounds)
    if ratio is not None:
        ratio = replace(ratio, disturbed=sum(pair.disturbed for pair, _ in found) / len(found))
    first = log_ratios[rounds < data.looks[0]]
    raw = signed_rank_p(first) if data.rounds >= data.looks[0] and len(first) else None
    return TrialVerdict(data, ratio, None if ratio is None else decide(ratio, ratio.p), raw)


def group_trials(measured: Iterable[TrialData]) -> list[TrialGroup]:
    """Judge all trials and group them by their planted slowdown."""
    found: dict[float, list[TrialVerdict]] = {}
    for data in measured:
        found.setdefault(data.trial.slowdown, []).append(judge(data))
    return [TrialGroup(slowdown, tuple(found[slowdown])) for slowdown in sorted(found)]


def noise_quantile(group: TrialGroup) -> float | None:
    """Return the 99 % quantile of |ratio - 1| between identical cells, which is noise alone."""
    estimates = [abs(math.log(trial.ratio.estimate.value)) for trial in group.trials if trial.ratio]
    return math.expm1(float(np.quantile(estimates, 0.99))) if estimates else None


def describe(found: Sequence[TrialGroup]) -> str:
    """Write the table of the validation, with remarks."""
    headers = ["planted", "comparisons", "different", "95 % bounds", "equivalent", "inconclusive", "none",
               "s per cell, median", "s per cell, most", "rounds, median"]  # fmt: skip
    rows = []
    for group in found:
        seconds = [trial.data.seconds / 2 for trial in group.trials]
        rows.append([
            _planted(group),
            len(group.trials),
            group.found.count,
            f"{group.found.low:.1%} to {group.found.high:.1%}",
            group.count(Verdict.EQUIVALENT),
            group.count(Verdict.INCONCLUSIVE),
            group.count(None),
            f"{np.median(seconds):.1f}",
            f"{max(seconds):.1f}",
            f"{np.median([trial.data.rounds for trial in group.trials]):g}",
        ])  # fmt: skip
    lines = [tabulate(rows, headers, tablefmt="github", disable_numparse=True), ""]
    lines += [remark for group in found for remark in remarks(group)]
    return "\n".join(lines)


def _planted(group: TrialGroup) -> str:
    """Name the planted slowdown, and the range that whole steps made of it."""
    if not group.slowdown:
        return "nothing (A/A)"
    made = [trial.data.planted for trial in group.trials if trial.ratio]
    really = f" ({min(made):.2%} to {max(made):.2%})" if made else ""
    return f"{group.slowdown:.0%} more work{really}"


def calibration(group: TrialGroup) -> str:
    """Describe the p values of identical cells before any stopping rule, threshold or correction."""
    p = [trial.first_p for trial in group.trials if trial.first_p is not None]
    if not p:
        return ""
    logs = np.array([math.log(trial.ratio.estimate.value) for trial in group.trials if trial.ratio])
    shares = ", ".join(f"p ≤ {level:.0%} in {sum(value <= level for value in p)}" for level in (0.05, 0.01))
    return (
        f"Of {len(p)} comparisons of identical cells, each by its first look's pairs alone, {shares}. "
        f"The estimates are on average {math.expm1(float(logs.mean())):+.3%} off, "
        f"{int((logs > 0).sum())} of {len(logs)} above 1 (signed-rank p {signed_rank_p(logs):.2g})."
    )


def bound(group: TrialGroup) -> list[str]:
    """Give the one-sided bound of the rate."""
    if not group.trials:
        return []
    if not group.slowdown:
        return [f"With 95 % confidence at most {group.found.at_most:.2%} of identical cells are called different."]
    if group.slowdown < THRESHOLD:
        return []
    return [f"With 95 % confidence at least {group.found.at_least:.1%} of slowdowns by {group.slowdown:.0%} are found."]


def broken_promises(found: Sequence[TrialGroup]) -> list[str]:
    """List the promises that the rates refute: those outside of their 95 % bounds."""
    said = []
    for group in found:
        if not group.measured:
            said.append(f"Not validated: none of the comparisons with {_planted(group)} could be measured.")
            continue
        if not group.slowdown and group.found.low > ALPHA:
            often = f"more than {ALPHA:.0%} of comparisons"
            said.append(f"Too many false alarms: identical cells are called different in {often}.")
        if group.slowdown >= THRESHOLD and group.found.high < POWER:
            said.append(f"Too little power: of slowdowns by {group.slowdown:.0%}, fewer than {POWER:.0%} are found.")
    return said


def remarks(group: TrialGroup) -> list[str]:
    """Explain one line of the table in words, and name the trials without a ratio."""
    said = []
    noise = noise_quantile(group) if not group.slowdown else None
    said += bound(group)
    if noise is not None:
        said.append(calibration(group))
        said.append(f"Between identical cells 99 % of the estimated ratios were within {noise:.2%} of 1.")
    for trial in group.trials:
        about = trial.data.trial
        if trial.ratio is None:
            said.append(f"Trial {about.number} ({about.cell.name}) has no verdict: {trial.data.reason or 'pairs'}.")
        elif trial.withheld:
            alone = trial.verdict.value if trial.verdict else "no verdict"
            said.append(
                f"Trial {about.number} ({about.cell.name}) is withheld, as in a table: other programs disturbed all "
                f"{len(trial.data.pairs)} pairs. Its ratio is {trial.ratio.estimate.value:.4f}: {alone}."
            )
        elif trial.found != bool(group.slowdown) and group.slowdown != 0.01:
            what = "missed" if group.slowdown else "a false alarm"
            said.append(f"Trial {about.number} ({about.cell.name}) is {what}: ratio {trial.ratio.estimate.value:.4f}.")
    return said
