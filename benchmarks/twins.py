"""Tests the cells that runs measured twice: the A/A twin of the baseline against its original, which are identical.

    nox -s benchmarks -- twins [RUN …]

A RUN is the folder of a run whose profile has ``twin = true``; without one, all of those under reports/reference. Each
row is a comparison with a known answer: the exact signed-rank test over its pairs of processes, as verdicts use it. Of
identical cells one in twenty has p ≤ 5 %, and one in a hundred p ≤ 1 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.analysis.run_analysis import judged
from bench.host.statistics.pairs import pair_log_ratios
from bench.host.statistics.signed_rank import exact_interval, signed_rank_p
from bench.host.storage import journal, manifest
from bench.host.study.twin import is_twin, original_cell

ROOT = Path(__file__).resolve().parents[1]
LEVEL = 0.95
#: Fewer pairs cannot reach a p value of 1 %.
FEWEST = 8


def compare(folder: Path) -> Iterator[tuple[str, str, str, int, float, str, float]]:
    """Yield the study, column and row of each twin of a run, its pairs, their median ratio, its interval and p."""
    described = manifest.read(folder)
    if described is None:
        raise SystemExit(f"{folder} holds no run")
    results = {result.cell: result for result in judged(journal.read(folder), described)[0]}
    for cell in filter(is_twin, results):
        original = original_cell(cell)
        _, log_ratios = pair_log_ratios(results[cell].turns, results[original].turns)
        if len(log_ratios) >= FEWEST:
            low, high = exact_interval(log_ratios, LEVEL) or (math.nan, math.nan)
            interval = f"[{math.exp(low):.3f}, {math.exp(high):.3f}]"
            ratio = math.exp(float(np.median(log_ratios)))
            row = f"{cell.workload}/{cell.size}"
            yield folder.name, original.column, row, len(log_ratios), ratio, interval, signed_rank_p(log_ratios)


def main(arguments: list[str]) -> int:
    folders = [Path(text) for text in arguments] or sorted((ROOT / "reports" / "reference").iterdir())
    runs = [folder for folder in folders if (found := manifest.read(folder)) and found.profile.twin]
    rows = [row for folder in runs for row in compare(folder)]
    headers = ("run", "column", "row", "pairs", "median ratio", f"{LEVEL:.0%} interval", "p")
    print(tabulate(rows, headers, tablefmt="github", floatfmt=".3f"))
    p_values = [row[-1] for row in rows]
    print(f"\n{len(rows)} pairs of identical cells: {sum(p <= 0.05 for p in p_values)} with p ≤ 5 %, "
          f"{sum(p <= 0.01 for p in p_values)} with p ≤ 1 %.")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
