"""Analyses the records of a run: one result per cell, its comparison with the baseline, and the noise floor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bench.cell import Cell
from bench.record import Record

from ..statistics.noise import NoiseFloor, noise_floor
from ..statistics.pairs import Ratio, estimate_ratios, pair_log_ratios, tail_log_ratios
from ..storage.manifest import Manifest
from ..study.baseline import BEST, CHOSEN, PREVIOUS
from ..study.twin import is_twin, original_cell
from .baselines import Baselines, baselines_of
from .comparisons import Reached, decide_together
from .disturbances import count_turns
from .efficiency import achieved_by
from .fairness import refusal
from .results import EXCLUDED, Comparison, Result
from .retries import is_given_up
from .run_results import results_of
from .startup import break_even, overtaken
from .stops import SETTLING, stop_of


@dataclass(frozen=True)
class Noise:
    """The noise floors from the A/A twin; None where there is no twin, or where it has too few pairs."""

    #: The column that was measured twice.
    column: str | None
    #: Pairs of the twin in the row that has the most.
    most_pairs: int
    floor: NoiseFloor | None
    #: Of the 90% quantiles.
    tail_floor: NoiseFloor | None

    @property
    def fraction(self) -> float:
        """Return the noise floor as verdicts take it into account: none where it is not known."""
        return self.floor.value if self.floor else 0.0


@dataclass(frozen=True)
class Analysis:
    """The results of a run, from which every output is made."""

    #: The cells of the tables: those planned, in order, then those that only records have, then those excluded.
    results: tuple[Result, ...]
    #: The twin's cells, which are in no table.
    twins: tuple[Result, ...]
    noise: Noise
    #: Comparisons whose p values were adjusted together.
    comparisons: int


def every_cell(cell: Cell) -> bool:
    return True


def analyse(records: Iterable[Record], manifest: Manifest, shown: Callable[[Cell], bool] = every_cell) -> Analysis:
    """Analyse a run: compare every column of a row with the baseline of the study, such as ``torch1:eager``.

    Only cells that are ``shown`` have results. Those of the baseline must be. The p values are adjusted for all
    comparisons of the run: to show few of them makes none of them more certain.
    """
    judgements, noise = judged(records, manifest, shown)
    known = {result.cell for result in judgements}
    results = describe([result for result in judgements if shown(original_cell(result.cell))], manifest)
    results += [
        Result(cell, EXCLUDED, None, why, stored_names=manifest.frameworks.get(cell.framework))
        for cell, why in manifest.excluded
        if cell not in known and shown(cell)
    ]
    return Analysis(
        tuple(result for result in results if not is_twin(result.cell)),
        tuple(result for result in results if is_twin(result.cell)),
        noise,
        sum(map(is_judged, judgements)),
    )


def undecided_cells(
    records: Iterable[Record], manifest: Manifest, goes_on: Callable[[Cell], bool] = lambda cell: True
) -> list[Cell]:
    """List the cells whose comparison is neither *different* nor *equivalent* now, what each is compared with, and the
    twins of these.

    A cell without pairs, such as one that failed, is no comparison and needs no more rounds, and neither does a cell
    that was given up. Later rounds of others can still change a verdict, through the noise floor and the adjusted p
    values. Where a cell does not go on any more, that asks for no rounds of the others: they would give no pairs.
    """
    results, _ = judged(records, manifest)
    bases = baselines_of(results, manifest.study.baseline)
    needed = {
        one.cell
        for result in results
        if is_judged(result) and result.verdict not in SETTLING
        if not any(is_given_up(one.records) or not goes_on(one.cell) for one in (result, bases[result.cell]))
        for one in (result, bases[result.cell])
    }
    return [result.cell for result in results if original_cell(result.cell) in needed]


def judged(
    records: Iterable[Record], manifest: Manifest, shown: Callable[[Cell], bool] = every_cell
) -> tuple[list[Result], Noise]:
    """Return a result for each cell that was planned or has records, with its verdict, and the noise floor.

    Where the baseline is chosen in each row, it is one of the cells that are ``shown``. The p values are adjusted for
    the comparisons of the others, too, as the whole run has them; the best of a row gives no verdicts.
    """
    results = results_of(records, manifest)
    noise = measure_noise(results)
    kept, others = results, list[Result]()
    if manifest.study.baseline in CHOSEN:
        kept = [result for result in results if shown(original_cell(result.cell))]
    if manifest.study.baseline == PREVIOUS and len(kept) < len(results):
        others = [result for result in compare(results, manifest) if not shown(original_cell(result.cell))]
    return judge([*compare(kept, manifest), *others], noise), noise


def measure_noise(results: Iterable[Result]) -> Noise:
    """Measure how far apart identical cells are, from the pairs of each twin with its original."""
    turns = {result.cell: result.turns for result in results}
    twins = [cell for cell in turns if is_twin(cell)]
    floors: list[NoiseFloor | None] = []
    most = 0
    for pairing in (pair_log_ratios, tail_log_ratios):
        log_ratios = [pairing(turns[cell], turns.get(original_cell(cell), {}))[1] for cell in twins]
        most = max(map(len, log_ratios), default=0)
        floors.append(noise_floor(log_ratios))
    return Noise(original_cell(twins[0]).column if twins else None, most, *floors)


def is_judged(result: Result) -> bool:
    """Tell whether a result is one of the comparisons of the table; the twin is not."""
    return result.comparison is not None and not is_twin(result.cell)


def compare(results: Sequence[Result], manifest: Manifest) -> list[Result]:
    """Add to each timed result its comparison with what it is compared with."""
    reached = Reached.of_each(results, manifest)
    bases = baselines_of(results, manifest.study.baseline)
    refused = {
        result.cell: differences
        for result in results
        if manifest.strict and (base := _timed_base(result, bases)) and (differences := refusal(result, base))
    }
    pairs = {
        result.cell: pair_log_ratios(result.turns, base.turns)
        for result in results
        if result.cell not in refused and (base := _timed_base(result, bases))
    }
    paired = [cell for cell, (keys, _) in pairs.items() if keys]
    # All at once, as those with equally few pairs are computed together.
    shown = dict(zip(paired, estimate_ratios([pairs[cell][1] for cell in paired]), strict=True))
    compared = []
    for result in results:
        base = bases.get(result.cell)
        if base is None or result.cell not in pairs:
            compared.append(replace(result, refused=refused.get(result.cell, ())))
            continue
        ratio = reached[result.cell.row].compare(result, base, pairs[result.cell], shown.get(result.cell))
        tail = reached[result.cell.row].compare_tails(result, base)
        if manifest.study.baseline == BEST:
            # What is best was chosen by these very data: a test of the difference would find too many.
            ratio, tail = (one and replace(one, deciding=None) for one in (ratio, tail))
        compared.append(
            replace(
                result,
                comparison=None if ratio is None else Comparison(ratio),
                tail=None if tail is None else Comparison(tail),
                baseline_irregular=ratio is not None and base.irregular,
            )
        )
    return compared


def _timed_base(result: Result, bases: Baselines) -> Result | None:
    """Return what a result is compared with, where both have times."""
    base = bases.get(result.cell)
    return None if base is None or base.step is None or result.step is None else base


def judge(results: Sequence[Result], noise: Noise) -> list[Result]:
    """Add verdicts: the p values of all comparisons are adjusted together, and those of the tails together."""
    tail_fraction = noise.tail_floor.value if noise.tail_floor else 0.0
    open_ = [result for result in results if is_judged(result)]
    comparisons = decide_together([_ratio(result.comparison) for result in open_], noise.fraction)
    tails = decide_together([_ratio(result.tail) for result in open_], tail_fraction)
    verdicts = {result.cell: found for result, *found in zip(open_, comparisons, tails, strict=True)}
    known_floor = noise.floor.value if noise.floor else None
    found = []
    for result in results:
        own, tail = verdicts.get(result.cell, (result.comparison, result.tail))
        found.append(replace(result, comparison=own, tail=tail, noise_floor=known_floor))
    return found


def _ratio(comparison: Comparison | None) -> Ratio | None:
    return None if comparison is None else comparison.ratio


def describe(results: Sequence[Result], manifest: Manifest) -> list[Result]:
    """Add what was measured beside the times."""
    bases = baselines_of(results, manifest.study.baseline)
    steps_until = overtaken if manifest.study.baseline == BEST else break_even
    return [
        replace(
            result,
            stop=stop_of(result, manifest),
            break_even=steps_until(result, bases.get(result.cell)),
            disturbances=count_turns(result.records, manifest.profile.samples),
            achieved=achieved_by(result, manifest),
            largest_batch=manifest.largest_batch.get(result.cell.name),
        )
        for result in results
    ]
