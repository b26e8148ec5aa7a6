"""Simulates how often the verdicts are correct, by noise, number of pairs, spread of a pair and true effect.

    nox -s benchmarks -- operating_characteristics [trials]

The pairs are simulated from a seed, so the tables describe the rules of bench/host/statistics; nox -s validate tests
them on a real machine. Targets: equal cells are called "different" at most as often as alpha, and slowdowns of 2 % are
found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.host.statistics.bootstrap import estimate  # noqa: E402
from bench.host.statistics.noise import noise_floor  # noqa: E402
from bench.host.statistics.pairs import DECIDING_LEVEL  # noqa: E402
from bench.host.statistics.signed_rank import averages_cut, hodges_lehmann, sum_distribution, walsh_averages  # noqa: E402
from bench.host.statistics.stopping import looks, weights  # noqa: E402
from bench.host.statistics.verdict import ALPHA, THRESHOLD  # noqa: E402

FloatArray = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]

#: Noise with a standard deviation of one.
NOISES: dict[str, Noise] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "Laplace": lambda random, shape: random.laplace(size=shape) / np.sqrt(2.0),
    "t3": lambda random, shape: random.standard_t(3, size=shape) / np.sqrt(3.0),
}
SPREADS = (0.003, 0.005, 0.009, 0.015, 0.03)
EFFECTS = (0.0, 0.01, 0.02, 0.05)
PAIRS = (8, 10, 12, 14, 20)
PLANS = ((10, 10), (10, 20), (14, 20), (12, 40))
TRIALS = 4000
#: Trials with the bootstrap, which is thousands of times slower.
BOOTSTRAPS = 500
SEED = 20261121


class Judged:
    """The verdicts on many comparisons at once, one per row of ``values``, equal to those of ``decide``."""

    def __init__(self, values: FloatArray, weight: float = 1.0, floor: float = 0.0) -> None:
        n = values.shape[1]
        averages = np.sort(walsh_averages(values), axis=1)
        # Without ties and zeros the sum of the positive ranks is the number of positive averages.
        positive = (averages > 0).sum(axis=1)
        tail = np.cumsum(sum_distribution(np.arange(1, n + 1)))
        p = np.minimum(1.0, 2.0 * tail[np.minimum(positive, averages.shape[1] - positive)]) / weight
        cut = averages_cut(n, 1.0 - ALPHA * weight)
        most = np.log1p(THRESHOLD)
        self.low, self.high = averages[:, cut], averages[:, -1 - cut]
        self.equivalent = (self.low > -most) & (self.high < most)
        beyond = np.abs(np.median(averages, axis=1)) > max(np.log1p(floor), most / 2.0)
        self.different = ~self.equivalent & beyond & (p <= ALPHA)
        #: The verdicts of a rule that also needs an estimate beyond the practical threshold.
        self.different_beyond = self.different & (np.abs(np.median(averages, axis=1)) >= most)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def coverage(random: np.random.Generator) -> str:
    """Compare coverage and average width of the exact interval and of the bootstrap's."""
    rows = []
    for name, noise in NOISES.items():
        for n in PAIRS:
            values = noise(random, (TRIALS, n))
            exact = Judged(values)
            found = [estimate(one, hodges_lehmann, level=DECIDING_LEVEL) for one in values[:BOOTSTRAPS]]
            low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
            rows.append([name, n, percent(np.mean((exact.low <= 0) & (exact.high >= 0))),
                         f"{np.mean(exact.high - exact.low):.2f}", percent(np.mean((low <= 0) & (high >= 0))),
                         f"{np.mean(high - low):.2f}"])  # fmt: skip
    headers = ["noise", "pairs", "exact covers / %", "width / SD", "bootstrap covers / %", "width / SD"]
    return tabulate(rows, headers, "github", disable_numparse=True)


def verdicts(random: np.random.Generator, trials: int) -> str:
    """Tabulate different / equivalent in percent for one look; in parentheses by the rule that needs 2 % estimated."""
    rows = []
    for name, noise in NOISES.items():
        for spread in SPREADS:
            for n in PAIRS:
                row = [name, percent(spread), n]
                for effect in EFFECTS:
                    found = Judged(np.log1p(effect) + spread * noise(random, (trials, n)))
                    row.append(
                        f"{percent(found.different.mean())} / {percent(found.equivalent.mean())}"
                        f" ({percent(found.different_beyond.mean())})"
                    )
                rows.append(row)
    headers = ["noise", "SD of a pair / %", "pairs", *(f"true {effect:.0%}" for effect in EFFECTS)]
    return tabulate(rows, headers, "github", disable_numparse=True)


def sequences(random: np.random.Generator, trials: int) -> str:
    """Tabulate verdicts and average rounds for stopping at planned looks."""
    rows = []
    for first, most in PLANS:
        planned = looks(first, most)
        for spread in (0.005, 0.009, 0.015):
            for effect in EFFECTS:
                values = np.log1p(effect) + spread * random.normal(size=(trials, most))
                different = equivalent = np.zeros(trials, dtype=bool)
                rounds = np.full(trials, float(most))
                for look, weight in zip(planned, weights(planned).tolist(), strict=True):
                    open_ = ~(different | equivalent)
                    found = Judged(values[:, :look], weight)
                    different = different | (open_ & found.different)
                    equivalent = equivalent | (open_ & found.equivalent)
                    rounds[open_ & (found.different | found.equivalent)] = look
                shares = [percent(different.mean()), percent(equivalent.mean())]
                plan = ", ".join(map(str, planned))
                rows.append([plan, percent(spread), f"{effect:.0%}", *shares, f"{rounds.mean():.1f}"])
    headers = ["looks", "SD of a pair / %", "true effect", "different / %", "equivalent / %", "rounds, mean"]
    return tabulate(rows, headers, "github", disable_numparse=True)


def floors(random: np.random.Generator) -> str:
    """Tabulate how often identical cells differ by more than the noise floor of their run; the goal is 1 %."""
    rows = []
    for name, noise in NOISES.items():
        for count, n in ((1, 8), (1, 20), (5, 10), (10, 10), (10, 20)):
            estimates = np.abs(np.median(walsh_averages(noise(random, (10_000, n)) * 0.01), axis=1))
            found = [noise_floor(list(noise(random, (count, n)) * 0.01)) for _ in range(50)]
            values = np.array([floor.value for floor in found if floor is not None])
            beyond = np.mean([np.mean(np.expm1(estimates) > value) for value in values])
            rows.append([name, count, n, f"{100 * values.mean():.2f} ± {100 * values.std():.2f}", percent(beyond)])
    headers = ["noise, SD 1 %", "rows", "pairs", "floor / %", "identical cells beyond / %"]
    return tabulate(rows, headers, "github", disable_numparse=True)


def main(arguments: list[str]) -> int:
    """Print the tables."""
    trials = int(arguments[0]) if arguments else TRIALS
    random = np.random.default_rng(SEED)
    print(f"Coverage of the interval that decides ({DECIDING_LEVEL:.0%}):\n\n{coverage(random)}\n", flush=True)
    print(f"different / equivalent in %, of {trials} comparisons each; in parentheses: different and estimated beyond "
          f"{THRESHOLD:.0%}\n\n{verdicts(random, trials)}\n", flush=True)  # fmt: skip
    print(f"Looks, normal noise:\n\n{sequences(random, trials)}\n", flush=True)
    print(f"Noise floor:\n\n{floors(random)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
