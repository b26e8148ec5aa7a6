"""Judges the stored trials of the validations, real pairs of processes, by the first look of other rules."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.statistics.rates import rate
from bench.host.statistics.verdict import Verdict
from bench.host.validation.summary import judge
from bench.host.validation.trial import TrialData

FOLDER = Path(__file__).resolve().parents[1] / "reports" / "reference" / "validation"


def by_first_look(looks: Sequence[int], folder: Path = FOLDER) -> str:
    """Make the table: a line per planted slowdown, over all stored trials that have so many rounds.

    Below it stands the correlation of neighbouring rounds of identical cells, which the test takes to be none.
    """
    first, correlations = looks[0], []
    found: dict[float, Counter[Verdict | None]] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for data in map(TrialData.from_json, map(json.loads, lines)):
                if data.rounds >= first:
                    pairs = tuple(pair for pair in data.pairs if pair.round < first)
                    judged = judge(replace(data, looks=tuple(looks), rounds=first, pairs=pairs))
                    counts = found.setdefault(data.trial.slowdown, Counter())
                    counts[None if judged.withheld else judged.verdict] += 1
                    if not data.trial.slowdown:
                        correlations.append(rank_correlation(data))
    rows = []
    for slowdown, counts in sorted(found.items()):
        different = rate(counts[Verdict.DIFFERENT], counts.total())
        bounds = f"{different.low:.2%} to {different.high:.2%}"
        rows.append([f"{slowdown:.0%}", counts.total(), *(counts[one] for one in (*Verdict, None)), bounds])
    headers = ["planted", "trials", *(one.value for one in Verdict), "none", "different, 95 % bounds"]
    mean, error = np.mean(correlations), np.std(correlations) / np.sqrt(len(correlations))
    correlation = f"Correlation of neighbouring rounds of identical cells: {mean:.3f}, standard error {error:.3f}"
    return f"{tabulate(rows, headers, tablefmt='github', disable_numparse=True)}\n\n{correlation}"


def rank_correlation(data: TrialData) -> float:
    """Return the correlation of the ranks of neighbouring pairs, less what it is by chance: -1 over their number."""
    logs = np.array([value for pair in data.pairs if (value := pair.log_ratio) is not None])
    ranks = logs.argsort().argsort() - (len(logs) - 1) / 2.0
    return float((ranks[1:] * ranks[:-1]).sum() / (ranks**2).sum()) + 1.0 / len(logs)
