"""Shows how often intervals of few processes cover the truth, and how often the mark "noisy" is right.

    nox -s benchmarks -- quality_marks [traces.jsonl.gz]

The noise is real: log ratios of pairs of processes from a validation, whose true ratios are known. Each draw takes
neighbouring rounds, as a run would. For the marks, true speed-ups from a half to three times are added, and the noise
is scaled to quiet, usual and bad machines. A cell without a mark is false where its true speed-up is further from the
number than a reader has to expect; a marked cell is needless where it is not.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.host.analysis.quality import NOISY, SHARE_OF_DISTANCE, is_noisy_ratio  # noqa: E402
from bench.host.statistics.bootstrap import Estimate, estimate  # noqa: E402
from bench.host.statistics.pairs import estimate_ratio  # noqa: E402
from bench.host.statistics.signed_rank import hodges_lehmann, walsh_averages  # noqa: E402

FloatArray = npt.NDArray[np.float64]

TRACES = ROOT / "reports" / "reference" / "validation" / "traces.jsonl.gz"
PAIRS = (2, 3, 4, 5, 6, 8)
#: Of the noise of the traces, whose pairs have a standard deviation of 0.7 % (median).
SCALES = (1.0, 3.0, 8.0)
SPEED_UPS = (0.5, 0.8, 0.95, 1.0, 1.03, 1.1, 1.3, 2.0, 3.0)
DRAWS = 8
SEED = 20261122


def noises(path: Path) -> list[FloatArray]:
    """Return the log ratios of the pairs of each comparison, less their true value."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            pairs = json.loads(line)["pairs"]
            logs = np.array([_log_ratio(np.array(pair[3]), np.array(pair[4])) for pair in pairs])
            found.append(logs - np.median(walsh_averages(logs)))
    return found


def _log_ratio(one: FloatArray, other: FloatArray) -> float:
    turns = min(len(one), len(other))
    return float(np.median(np.log(one[:turns]) - np.log(other[:turns])))


def neighbours(random: np.random.Generator, noise: FloatArray, count: int) -> FloatArray:
    first = random.integers(0, len(noise) - count + 1)
    return noise[first : first + count]


def coverage(found: list[FloatArray]) -> list[tuple[object, ...]]:
    """Return for each number of pairs how often the bootstrap's and the published interval cover the true ratio."""
    rows: list[tuple[object, ...]] = []
    for count in PAIRS:
        random = np.random.default_rng((SEED, count))
        hits = np.zeros(2)
        for noise in found * DRAWS:
            logs = neighbours(random, noise, count)
            bootstrap, shown = estimate(logs, hodges_lehmann), estimate_ratio(logs)
            hits += [_covers(bootstrap, 0.0), _covers(shown, 1.0)]
        rows.append((count, *(f"{share:.1%}" for share in hits / (len(found) * DRAWS))))
    return rows


def _covers(found: Estimate, true: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= true <= found.high


def marks(found: list[FloatArray], count: int = 3) -> list[tuple[object, ...]]:
    """Return for each noise how many ratios of ``count`` pairs are marked, falsely unmarked, and needlessly marked.

    The last two columns are those of the rule before: an interval, by the bootstrap, of more than 5 %.
    """
    rows: list[tuple[object, ...]] = []
    for scale in SCALES:
        random = np.random.default_rng((SEED, count, round(scale)))
        seen = np.zeros(5)
        for noise in found * DRAWS:
            true = math.log(random.choice(SPEED_UPS))
            logs = true + scale * neighbours(random, noise, count)
            shown, bootstrap = estimate_ratio(logs), estimate(logs, hodges_lehmann)
            wrong = abs(math.log(shown.value) - true) > max(math.log1p(NOISY), SHARE_OF_DISTANCE * abs(true))
            marked = is_noisy_ratio(shown)
            assert bootstrap.low is not None
            assert bootstrap.high is not None
            before = max(bootstrap.value - bootstrap.low, bootstrap.high - bootstrap.value) > NOISY
            seen += [marked, wrong and not marked, marked and not wrong, before, wrong and not before]
        rows.append((f"x {scale:g}", *(f"{share:.1%}" for share in seen / (len(found) * DRAWS))))
    return rows


def main(path: Path = TRACES) -> None:
    found = noises(path)
    print(f"{len(found)} comparisons, {DRAWS} draws of each\n")
    print(tabulate(coverage(found), headers=("pairs", "bootstrap covers", "published covers")))
    print("\nRatios from three pairs")
    headers = ("noise", "marked", "falsely unmarked", "needlessly marked", "marked before", "falsely unmarked before")
    print(tabulate(marks(found), headers=headers))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
