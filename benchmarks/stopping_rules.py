"""Simulates tables of the profile ``standard``: how often its looks and stops call identical cells different.

    nox -s benchmarks -- stopping_rules [tables]

Looks, stops of single cells, corrections and verdicts are those of bench/host. Log times are drawn from a seed: a level
of each process, and its samples. What is common to a turn cancels. A table has no failures, and no noise floor, which
only makes "different" rarer. Stored trials show the first look with real pairs. Limits are exact, at 95 %.
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tabulate import tabulate

from bench.cell import Cell
from bench.host.analysis.comparisons import decide_together
from bench.host.analysis.stops import SETTLING
from bench.host.measuring.stopping import Stops
from bench.host.statistics import stopping
from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import Ratio, estimate_ratio
from bench.host.statistics.rates import rate
from bench.host.statistics.signed_rank import walsh_averages
from bench.host.statistics.verdict import Verdict
from benchmarks._stored_trials import by_first_look

FloatArray = npt.NDArray[np.float64]
#: {compared cell: its true log ratio, and the log ratio of its pair in every round}
Drawn = dict[Cell, tuple[float, FloatArray]]

STANDARD = tomllib.loads((Path(__file__).resolve().parents[1] / "matrix.toml").read_text())["profiles"]["standard"]
LOOKS = stopping.looks(STANDARD["rounds"], STANDARD["most_rounds"])
#: Standard deviation of samples over that of the levels of processes: 1.8 % and 1.1 % give a pair 1.8 %.
SAMPLES = 1.6
TABLES, SEED = 1000, 20261127
HEADERS = ("comparisons", "identical called different", "tables with such a one", "others different",
           "others equivalent", "95 % intervals cover", "of different", "false of different", "rounds")  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """One kind of table; a group has rows, identical columns, others, their true ratio, and the levels' deviation."""

    name: str
    groups: tuple[tuple[int, int, int, float, float], ...]
    #: Degrees of freedom of the noise; correlation of the levels from round to round, which should be none.
    tails: float = math.inf
    correlation: float = 0.0


KINDS = (
    Kind("5 identical", ((5, 1, 0, 1.0, 0.011),)),
    Kind("20 identical", ((5, 4, 0, 1.0, 0.011),)),
    Kind("50 identical", ((10, 5, 0, 1.0, 0.011),)),
    Kind("50 identical, noise of 1.7 %, t with 3 df", ((10, 5, 0, 1.0, 0.017),), tails=3.0),
    Kind("25 identical; 25 by 5 %", ((5, 5, 0, 1.0, 0.011), (5, 0, 5, 1.05, 0.011))),
    Kind("10 identical; 40 by 30 %, noise of 1.7 %, t", ((10, 1, 4, 1.3, 0.017),), tails=3.0),
    Kind("10 identical, noise of 1.7 %; 40 by 0.8 %, 0.2 %", ((2, 5, 0, 1.0, 0.017), (8, 0, 5, 1.008, 0.002))),
    Kind("20 by 1 %", ((5, 0, 4, 1.01, 0.011),)),
    Kind("20 by 2.01 %, noise of 0.5 %, t", ((5, 0, 4, 1.0201, 0.005),), tails=3.0),
    Kind("20 identical, rounds correlated by 0.3", ((5, 4, 0, 1.0, 0.011),), correlation=0.3),
    Kind("20 identical, rounds correlated by 0.6", ((5, 4, 0, 1.0, 0.011),), correlation=0.6),
)


def draw(random: np.random.Generator, kind: Kind) -> Drawn:
    """Draw a table."""

    def noise(*shape: int) -> FloatArray:
        drawn = random.standard_t(kind.tails, shape) if kind.tails < math.inf else random.normal(size=shape)
        return drawn * math.sqrt(1.0 - 2.0 / kind.tails)

    found: Drawn = {}
    own = kind.correlation
    for group, (rows, same, others, ratio, deviation) in enumerate(kind.groups):
        for row in range(rows):
            levels = noise(1 + same + others, LOOKS[-1])
            for i in range(1, LOOKS[-1] if own else 0):
                levels[:, i] = own * levels[:, i - 1] + math.sqrt(1.0 - own**2) * levels[:, i]
            times = levels[..., np.newaxis] + SAMPLES * noise(*levels.shape, STANDARD["samples"])
            # As ``pairs.log_ratio``.
            for column, pairs in enumerate(deviation * np.median(times[1:] - times[0], axis=2)):
                true = 0.0 if column < same else math.log(ratio)
                cell = Cell(f"e{column}", "numpy", "eager", f"w{group}-{row}", "small", "float32", "cpu", 1)
                found[cell] = true, true + pairs
    return found


def measure(table: Drawn) -> tuple[dict[Cell, Verdict | None], dict[Cell, int]]:
    """Look at a table as a run does; return the verdict on each cell, and its rounds."""
    rounds: dict[Cell, int] = {}
    ratios: dict[Cell, Ratio | None] = {}

    def judged(done: int) -> dict[Cell, Verdict | None]:
        for cell in [cell for cell in table if cell.row not in stops.made and stops.goes_on(cell)]:
            rounds[cell], pairs = done, table[cell][1][:done]
            estimate = Estimate(math.exp(float(np.median(walsh_averages(pairs)))), None, None, done)
            ratios[cell] = stopping.sequential_ratio(np.arange(done), pairs, LOOKS, done, shown=estimate)
        found = decide_together([ratios[cell] for cell in table], 0.0)
        return {cell: None if one is None else one.verdict for cell, one in zip(table, found, strict=True)}

    rows = sorted({cell.row for cell in table})
    stops = Stops(rows, LOOKS, lambda _, done: [cell for cell, one in judged(done).items() if one not in SETTLING])
    for look in LOOKS[:-1]:
        stops.look(look, [])
    return judged(LOOKS[-1]), rounds


def simulate(kind: Kind, tables: int, random: np.random.Generator) -> list[str]:
    """Simulate tables of one kind; return a line of the report."""
    covered: tuple[list[bool], list[bool]] = ([], [])
    false, share, rounds, others = [], 0.0, 0, Counter[Verdict | None]()
    for _ in range(tables):
        table = draw(random, kind)
        verdicts, done = measure(table)
        called = [cell for cell, verdict in verdicts.items() if verdict is Verdict.DIFFERENT]
        false.append(sum(table[cell][0] == 0.0 for cell in called))
        share, rounds = share + false[-1] / max(1, len(called)), rounds + sum(done.values())
        others.update(verdict for cell, verdict in verdicts.items() if table[cell][0])
        # Only one of all and one of those called different, as a bootstrap takes long.
        for own, cells in zip(covered, (list(table), called), strict=True):
            for cell in cells and [cells[int(random.integers(len(cells)))]]:
                shown = estimate_ratio(table[cell][1][: done[cell]])
                own.append((shown.low or 0.0) <= math.exp(table[cell][0]) <= (shown.high or math.inf))
    same = tables * sum(group[0] * group[1] for group in kind.groups)
    rates = [(sum(false), same), (sum(map(bool, false)), tables if same else 0)]
    rates += [(others[verdict], others.total()) for verdict in SETTLING] + [(sum(own), len(own)) for own in covered]
    limits = [f"{n / of:.2%} [{rate(n, of).low:.2%}, {rate(n, of).high:.2%}]" if of else "–" for n, of in rates]
    return [kind.name, *limits, f"{share / tables:.2%}", f"{rounds / tables / len(table):.1f}"]


def main(arguments: list[str]) -> int:
    tables = int(arguments[0]) if arguments else TABLES
    print(f"Stored trials after {LOOKS[0]} rounds:\n\n{by_first_look(LOOKS)}\n\n{tables} simulated tables each:\n")
    rows = [simulate(kind, tables, np.random.default_rng((SEED, number))) for number, kind in enumerate(KINDS)]
    print(tabulate(rows, HEADERS, tablefmt="github", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
