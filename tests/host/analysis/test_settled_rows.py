"""Tests which cells need more rounds: those whose comparison is neither different nor equivalent, and its baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.analysis.ranking import rank
from bench.host.analysis.results import Comparison
from bench.host.analysis.run_analysis import analyse, judged, undecided_cells
from bench.host.analysis.stops import stopped_before_their_rows
from bench.host.reporting.words.remarks import stop_remark
from bench.host.statistics.verdict import Verdict
from bench.host.storage.manifest import MOST_ROUNDS, SETTLED, Manifest, Stop
from bench.record import Record

BASE = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
OTHER = replace(BASE, environment="jax", framework="jax", mode="jit")
TWIN = replace(BASE, environment="torch1~twin")
LOOKS = (12, 18, 27, 40)


def records(cell: Cell, factor: float, noise: float, rounds: int = 12, seed: int = 0) -> list[Record]:
    random = np.random.default_rng(seed)
    made = []
    for number in range(rounds):
        ns = (1e6 * factor * np.exp(random.normal(0.0, noise, 6))).astype(int).tolist()
        made.append(Record(cell, number, 1, "ok", sample_ns=ns, sample_steps=[10] * 6, sample_turn=list(range(6))))
    return made


def undecided(made: list[Record]) -> list[Cell]:
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS)}
    return undecided_cells(made, Manifest.from_json(run))


def comparison_of(cell: Cell, made: list[Record]) -> Comparison:
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS)}
    results, _ = judged(made, Manifest.from_json(run))
    return next(result.comparison for result in results if result.cell == cell)


@pytest.mark.parametrize(("factor", "noise", "is_settled"), [(1.0, 0.002, True), (1.2, 0.002, True), (1.0, 0.1, False)])
def test_a_row_is_settled_by_a_clear_answer_of_either_kind(factor, noise, is_settled):
    made = records(BASE, 1.0, noise) + records(OTHER, factor, noise, seed=1)
    assert undecided(made) == ([] if is_settled else [BASE, OTHER])


def test_an_open_comparison_needs_its_baseline_and_the_twin_of_that_and_no_other_cell():
    third = replace(OTHER, mode="eager")
    factors = {BASE: 1.0, TWIN: 1.0, OTHER: 1.5}
    made = [one for seed, cell in enumerate(factors) for one in records(cell, factors[cell], 0.002, 18, seed)]
    assert undecided(made) == []
    assert undecided(made + records(third, 1, 0.2, 18, seed=4)) == [BASE, TWIN, third]


def test_a_cell_that_failed_asks_for_no_more_rounds():
    failed = [Record(replace(OTHER, mode="eager"), 0, 1, "failed", "import", "boom")]
    made = records(BASE, 1.0, 0.002) + records(OTHER, 1.5, 0.002, seed=1) + failed
    assert undecided(made) == []


def test_the_twin_settles_nothing_and_keeps_nothing_going():
    made = records(BASE, 1.0, 0.002) + records(TWIN, 1.0, 0.2, seed=1)
    assert undecided(made) == []


def test_nothing_is_settled_before_the_first_look():
    made = records(BASE, 1.0, 0.002, rounds=11) + records(OTHER, 1.5, 0.002, rounds=11, seed=1)
    assert undecided(made) == [BASE, OTHER]


def test_the_p_values_of_all_rows_are_adjusted_together():
    """Nine rows without an answer make the same evidence weaker in the tenth."""
    clear = records(BASE, 1.0, 0.002) + records(OTHER, 1.5, 0.002, seed=1)
    noisy = []
    for number in range(9):
        cells = [replace(cell, workload=f"w{number}") for cell in (BASE, OTHER)]
        noisy += records(cells[0], 1.0, 0.3, seed=2 * number) + records(cells[1], 1.0, 0.3, seed=2 * number + 1)
    assert undecided(clear) == []
    assert {BASE, OTHER} <= set(undecided(clear + noisy))


def test_what_stopped_at_a_look_keeps_the_verdict_of_that_look_while_its_row_goes_on():
    """A later look must not test the same pairs again, with error that was meant for new ones."""
    third = replace(OTHER, mode="eager")
    stopped = records(OTHER, 1.5, 0.002, rounds=18, seed=1)
    at_its_look = comparison_of(OTHER, records(BASE, 1.0, 0.002, rounds=18) + stopped)
    gone_on = records(BASE, 1.0, 0.002, rounds=40) + records(third, 1.0, 0.2, rounds=40, seed=2)
    later = comparison_of(OTHER, gone_on + stopped)
    assert later.verdict is at_its_look.verdict is Verdict.DIFFERENT
    assert later.ratio.p == at_its_look.ratio.p == 0.5**17 / ((18 / 40) ** 2 - (12 / 40) ** 2)
    assert later.ratio.deciding == at_its_look.ratio.deciding
    assert comparison_of(third, gone_on + stopped).ratio.estimate.n == 40


def test_a_cell_that_stopped_before_its_row_is_told():
    third = replace(OTHER, mode="eager")
    made = records(BASE, 1.0, 0.002, rounds=40) + records(OTHER, 1.5, 0.002, rounds=18, seed=1)
    made += records(third, 1.0, 0.2, rounds=40, seed=2)
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS)}
    run["stopped"] = {BASE.row: {"rounds": 40, "why": MOST_ROUNDS}}
    manifest = Manifest.from_json(run)
    results = analyse(made, manifest).results
    assert {result.cell: result.stop for result in results} == {
        BASE: Stop(40, MOST_ROUNDS),
        OTHER: Stop(18, SETTLED),
        third: Stop(40, MOST_ROUNDS),
    }
    assert stopped_before_their_rows(results, manifest) == 1
    assert "; 1 cell was settled at an earlier look than its row and stopped there." in stop_remark(results, manifest)


def test_a_cell_that_stopped_and_is_open_again_is_told_and_asks_for_no_rounds_of_its_baseline():
    """Its baseline alone would give no pairs; another row's noise moved the correction."""
    made = records(BASE, 1.0, 0.002, rounds=27) + records(OTHER, 1.5, 0.002, rounds=12, seed=1)
    for number in range(9):
        cells = [replace(cell, workload=f"w{number}") for cell in (BASE, OTHER)]
        for seed, cell in enumerate(cells):
            made += records(cell, 1.0, 0.3, rounds=27, seed=2 * number + seed)
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS)}
    manifest = Manifest.from_json(run)
    assert {BASE, OTHER} <= set(undecided_cells(made, manifest))
    assert not {BASE, OTHER} & set(undecided_cells(made, manifest, lambda cell: cell != OTHER))
    run["stopped"] = {BASE.row: {"rounds": 27, "why": MOST_ROUNDS}}
    manifest = Manifest.from_json(run)
    results = analyse(made, manifest).results
    assert next(result.stop for result in results if result.cell == OTHER) == Stop(12, SETTLED)
    said = stop_remark(results, manifest)
    assert "1 cell was settled at an earlier look than its row" in said
    assert f"cells of {BASE.row} were settled and became inconclusive" in said


def test_profiles_compare_the_rounds_that_all_cells_of_a_row_have():
    """The machine is slower after the look at which a cell stopped: that must not make the cell look fast."""
    made = []
    for number in range(3):
        base, slow, open_cell = (
            replace(cell, workload=f"w{number}") for cell in (BASE, OTHER, replace(OTHER, mode="eager"))
        )
        for cell, factor, rounds in ((base, 1.0, 40), (slow, 1.2, 12), (open_cell, 1.1, 40)):
            for one in records(cell, factor, 0.002, rounds=rounds, seed=number):
                slower = 2 if one.round >= 12 else 1
                made.append(replace(one, sample_ns=[slower * ns for ns in one.sample_ns]))
    manifest = Manifest.from_json({"study": {"baseline": BASE.column}, "looks": list(LOOKS)})
    ranked = {one.column: one for one in rank(analyse(made, manifest), manifest).columns}
    assert ranked[BASE.column].profile.factors == (1.0, 1.0, 1.0)
    assert ranked[OTHER.column].profile.factors == pytest.approx((1.2, 1.2, 1.2), rel=0.01)


def test_the_last_round_before_a_look_counts_only_when_it_is_complete():
    """Else the look would use other pairs of that round now than after the run was continued."""
    made = records(BASE, 1.0, 0.002, rounds=12) + records(OTHER, 1.5, 0.002, rounds=12, seed=1)
    run = {"study": {"baseline": BASE.column}, "looks": list(LOOKS), "profile": {"samples": 6}}
    results, _ = judged(made, Manifest.from_json(run))
    assert [result.verdict for result in results] == [None, Verdict.DIFFERENT]
    cut = [replace(one, sample_ns=one.sample_ns[:4], sample_steps=[10] * 4, sample_turn=list(range(4))) for one in made]
    interrupted = [after if before.round == 11 else before for before, after in zip(made, cut, strict=True)]
    results, _ = judged(interrupted, Manifest.from_json(run))
    assert [result.verdict for result in results] == [None, None]


def test_a_cell_that_was_given_up_keeps_its_row_from_going_on_for_nothing():
    """It has pairs, too few to tell, and will never have more."""
    open_cell = replace(OTHER, mode="eager")
    factors = {BASE: (1.0, 0.002), OTHER: (1.5, 0.002), open_cell: (1.0, 0.2)}
    made = [one for seed, cell in enumerate(factors) for one in records(cell, *factors[cell], rounds=18, seed=seed)]
    assert undecided(made) == [BASE, open_cell]
    assert undecided([*made, Record(open_cell, 18, 1, "mismatch", "check", "wrong")]) == []
    crashes = [Record(open_cell, number, 2, "failed", "measure", "it died") for number in (3, 7)]
    assert undecided([*made, *crashes]) == []
