"""Knows what the records of a run come to: one result per cell, compared with the baseline, and the noise floor."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.cell import Cell
from bench.record import Record

from ..settling import rounds_of
from ..statistics import stopping
from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray
from ..statistics.noise import NoiseFloor, noise_floor
from ..statistics.pairs import Ratio, pair_log_ratios, tail_log_ratios
from ..statistics.signed_rank import walsh_averages
from ..statistics.verdict import adjust_for_discovery, decide
from ..stops import BUDGET
from ..twin import is_twin, original_cell
from .conditions import Conditions
from .disturbances import count_turns
from .efficiency import achieved_by
from .fairness import refusal
from .results import EXCLUDED, Comparison, Processes, Result, result_of, row_key
from .startup import break_even
from .warmups import warm_ups


@dataclass(frozen=True)
class Noise:
    """What the A/A twin says; the floors are None where there is no twin, or where it has too few pairs."""

    #: The column that was measured twice.
    column: str | None
    #: Pairs of the twin in the row that has the most.
    most_pairs: int
    floor: NoiseFloor | None
    #: Of the 90% quantiles.
    tail_floor: NoiseFloor | None


@dataclass(frozen=True)
class Analysis:
    """Everything that the tables of a run are made of."""

    #: The cells of the table: in the order planned, then those that only records know, then those left out.
    results: tuple[Result, ...]
    #: The twin's cells, which are in no table.
    twins: tuple[Result, ...]
    noise: Noise
    #: Comparisons whose p values were adjusted together.
    comparisons: int


def analyse(records: Iterable[Record], conditions: Conditions) -> Analysis:
    """Analyse a run; every other column of a row is compared with ``conditions.baseline``, such as ``torch1:eager``."""
    by_cell: dict[Cell, list[Record]] = {cell: [] for cell in conditions.planned}
    for record in records:
        by_cell.setdefault(record.cell, []).append(record)
    for own in by_cell.values():
        own.sort(key=lambda record: (record.round, record.attempt))
    found = {cell: result_of(cell, own) for cell, own in by_cell.items()}
    processes = {cell: made for cell, (_, made) in found.items()}
    noise = measure_noise(processes)
    results = compare([result for result, _ in found.values()], processes, conditions)
    comparisons = sum(result.comparison is not None and not is_twin(result.cell) for result in results)
    results = describe(judge(results, noise), conditions)
    results += [Result(cell, EXCLUDED, None, why) for cell, why in conditions.excluded if cell not in by_cell]
    return Analysis(
        tuple(result for result in results if not is_twin(result.cell)),
        tuple(result for result in results if is_twin(result.cell)),
        noise,
        comparisons,
    )


def measure_noise(processes: Mapping[Cell, Processes]) -> Noise:
    """Measure how far apart identical cells are, from the pairs of each twin with its original."""
    twins = [cell for cell in processes if is_twin(cell)]
    floors: list[NoiseFloor | None] = []
    most = 0
    for pairing in (pair_log_ratios, tail_log_ratios):
        log_ratios = [pairing(processes[cell], processes.get(original_cell(cell), {}))[1] for cell in twins]
        most = max(map(len, log_ratios), default=0)
        floors.append(noise_floor(log_ratios))
    return Noise(original_cell(twins[0]).column if twins else None, most, *floors)


def compare(results: Sequence[Result], processes: Mapping[Cell, Processes], conditions: Conditions) -> list[Result]:
    """Add to each timed result its comparison with the baseline of its row."""
    rounds: dict[str, int] = {}
    for result in results:
        last = max((record.round for record in result.records), default=-1)
        rounds[result.cell.row] = max(1 + last, rounds.get(result.cell.row, 0))
    bases = {row_key(result.cell): result for result in results if result.cell.column == conditions.baseline}
    compared = []
    for result in results:
        base = bases.get(row_key(result.cell))
        if base is None or base is result or result.step is None or base.step is None:
            compared.append(result)
            continue
        refused = refusal(result, base) if conditions.strict else None
        if refused:
            compared.append(replace(result, refused=refused))
            continue
        reached = Reached.of(result.cell.row, rounds[result.cell.row], conditions)
        mine, theirs = processes[result.cell], processes[base.cell]
        comparison = reached.compare(*pair_log_ratios(mine, theirs))
        tail = reached.compare_tails(*tail_log_ratios(mine, theirs))
        unsteady = comparison is not None and base.unsteady
        compared.append(replace(result, comparison=comparison, tail=tail, baseline_unsteady=unsteady))
    return compared


@dataclass(frozen=True)
class Reached:
    """How far a row has come on the way through the looks."""

    looks: tuple[int, ...]
    rounds: int
    #: Whether it ended for a reason other than its results, which is a look of its own.
    ended: bool

    @classmethod
    def of(cls, row: str, rounds: int, conditions: Conditions) -> Reached:
        """Read it from the conditions; ``rounds`` are those of which there are records."""
        stop = conditions.stopped.get(row)
        done = min(rounds, stop.rounds) if stop else rounds
        return cls(conditions.looks or (rounds,), done, stop is not None and stop.why == BUDGET)

    def compare(self, keys: Sequence[Hashable], log_ratios: FloatArray) -> Comparison | None:
        """Compare two cells; None where no two processes took turns."""
        ratio = stopping.sequential_ratio(rounds_of(keys), log_ratios, self.looks, self.rounds, ended=self.ended)
        return None if ratio is None else Comparison(ratio)

    def compare_tails(self, keys: Sequence[Hashable], log_ratios: FloatArray) -> Comparison | None:
        """Compare the tails of two cells, without the interval for show: the one that decides is enough there."""
        if not len(log_ratios):
            return None
        data = rounds_of(keys), log_ratios, self.looks, self.rounds
        p = stopping.sequential_p(*data, ended=self.ended)
        value = math.exp(np.median(walsh_averages(log_ratios)))
        deciding = stopping.sequential_interval(*data, ended=self.ended)
        return Comparison(Ratio(Estimate(value, None, None, len(log_ratios)), 1.0 if p is None else p, deciding))


def judge(results: Sequence[Result], noise: Noise) -> list[Result]:
    """Add verdicts: the p values of all comparisons of the table are adjusted together, those of the tails apart.

    A comparison without a look has the p value 1, as it had when the rows were settled. The twin is no comparison.
    """
    judged = [i for i, result in enumerate(results) if result.comparison is not None and not is_twin(result.cell)]
    found = [replace(result, noise_floor=noise.floor.value if noise.floor else None) for result in results]
    comparisons = _decide([found[i].comparison for i in judged], noise.floor)
    tails = _decide([found[i].tail for i in judged], noise.tail_floor)
    for i, comparison, tail in zip(judged, comparisons, tails, strict=True):
        found[i] = replace(found[i], comparison=comparison, tail=tail)
    return found


def _decide(comparisons: Sequence[Comparison | None], floor: NoiseFloor | None) -> list[Comparison]:
    ratios = [comparison.ratio for comparison in comparisons if comparison is not None]
    adjusted = adjust_for_discovery(np.array([ratio.p for ratio in ratios]))
    decided = []
    for ratio, p in zip(ratios, adjusted.tolist(), strict=True):
        verdict = decide(ratio, p, floor=floor.value if floor else 0.0)
        decided.append(Comparison(ratio, None if verdict is None else p, verdict))
    return decided


def describe(results: Sequence[Result], conditions: Conditions) -> list[Result]:
    """Add what was seen beside the times."""
    bases = {row_key(result.cell): result for result in results if result.cell.column == conditions.baseline}
    classes = warm_ups([(result.timed, result.locations) for result in results])
    return [
        replace(
            result,
            break_even=break_even(result, bases.get(row_key(result.cell))),
            warm_up=warm_up,
            disturbances=count_turns(result.records, conditions.turns),
            achieved=achieved_by(result, conditions),
            largest_batch=conditions.largest_batch.get(result.cell.name),
        )
        for result, warm_up in zip(results, classes, strict=True)
    ]
