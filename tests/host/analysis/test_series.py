"""Tests series of runs: what belongs to one series, and which change has which cause."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.host.analysis.series import collect, find_changes
from bench.host.analysis.series_gate import judge
from bench.host.statistics.verdict import Verdict
from bench.host.storage.run_summary import CellSummary, RunFacts, RunSummary

ROWS = ("gemm/small/float32/cpu", "mlp-train/small/float32/cpu")


def every(cell):
    return True


def night(number, *, level=0.0, mood=0.0, torch="2.14.0", seed=1, machine="A", settings=None, cell=None):
    """Return the run of one night: two cells of torch and one of JAX, of which torch has a level of its own."""
    random = np.random.default_rng((seed, number))
    cells = [
        CellSummary(
            column=column,
            row=row,
            threads=2,
            step_s=np.exp(math.log(1e-3) + mood + own + random.normal(0.0, 0.01, 8)).tolist(),
            log_ratios=[] if column == "jax:jit" else (own + random.normal(0.0, 0.005, 8)).tolist(),
            **(cell or {}),
        )
        for column, row, own in (
            ("torch:eager", ROWS[0], level),
            ("torch:eager", ROWS[1], 0.0),
            ("jax:jit", ROWS[0], 0.0),
        )
    ]
    facts = RunFacts(
        run=f"night-{number:04d}",
        started=f"2026-{1 + number // 28:02d}-{1 + number % 28:02d} 03:17:00",
        machine={"processor": machine, "driver": "550"},
        baseline="jax:jit",
        environments={"torch": {"python": "3.11.7", "torch": torch}, "jax": {"jax": "0.10.2"}},
        settings=[settings or {"threads": "2"}],
    )
    return RunSummary(facts, tuple(cells))


def slower_from(at, nights=60, **values):
    return [
        night(n, level=0.06 if n >= at else 0.0, torch="2.15.0" if n >= at else "2.14.0", **values)
        for n in range(nights)
    ]


def test_code_of_a_workload_that_changed_with_its_time_is_the_first_cause():
    """Nothing seemed to have changed with it, although it is what slows one's own workload most of the time."""
    nights = [
        RunSummary(one.facts.model_copy(update={"programs": {"torch/gemm": "bbbb" if n >= 40 else "aaaa"}}), one.cells)
        for n, one in enumerate(slower_from(40))
    ]
    (found,) = find_changes(collect(nights, every))
    assert found.causes[0] == ("code of gemm", "aaaa", "bbbb")
    # Older runs do not say what their code was.
    for one in nights[:40]:
        one.facts.programs.clear()
    (found,) = find_changes(collect(nights, every))
    assert "code of gemm" not in [what for what, _before, _after in found.causes]


def test_a_slower_release_is_found_in_its_cell_with_its_night_and_its_version():
    (found,) = find_changes(collect(slower_from(40), every))
    assert (found.series.cell.name, found.verdict) == (f"torch:eager {ROWS[0]}", Verdict.DIFFERENT)
    assert found.change.first <= 40 <= found.change.last
    assert found.newest
    assert ("torch: torch", "2.14.0", "2.15.0") in found.causes
    assert found.change.ratio.estimate.low < math.exp(0.06) < found.change.ratio.estimate.high


def test_what_slows_all_cells_of_a_night_cancels_in_the_ratios_to_the_baseline():
    moods = np.random.default_rng(5).normal(0.0, 0.05, 60)
    moods[30:] += 0.2
    runs = [night(n, mood=float(mood)) for n, mood in enumerate(moods)]
    assert len(find_changes(collect(runs, every))) == 3
    assert find_changes(collect(runs, every, relative=True)) == []


@pytest.mark.parametrize(
    "other",
    [
        {"machine": "B"},
        {"settings": {"threads": "4"}},
        {"settings": {"threads": "2", "TF32 matmul": "True"}},
    ],
)
def test_what_is_not_comparable_begins_another_series(other):
    runs = [*(night(n) for n in range(20)), *(night(n, level=0.5, **other) for n in range(20, 40))]
    found = collect(runs, every)
    assert [len(one.runs) for one in found.series] == [20] * 6
    assert find_changes(found) == []


def test_another_generation_of_processors_with_the_same_name_begins_another_series():
    """Cloud machines hide the name: nights on two kinds of them looked like changes of every cell."""

    def on(number, model):
        found = night(number, mood=0.3 * (model == "207"))
        machine = {**found.facts.machine, "processor_version": f"family 6, model {model}"}
        return RunSummary(found.facts.model_copy(update={"machine": machine}), found.cells)

    found = collect([on(n, "207" if n % 20 < 10 else "143") for n in range(40)], every)
    assert {len(one.runs) for one in found.series} == {20}
    assert not find_changes(found)


def test_a_night_whose_baseline_was_disturbed_has_no_ratio():
    runs = [night(n) for n in range(20)]
    (_, _, base) = runs[7].cells
    runs[7] = RunSummary(runs[7].facts, (*runs[7].cells[:2], base.model_copy(update={"disturbed": 4})))
    found = collect(runs, every, relative=True)
    assert {one.cell.row: 7 in one.runs for one in found.series} == {ROWS[0]: False, ROWS[1]: True}


def test_ratios_to_another_best_of_the_row_begin_another_series():
    nights = [night(n, cell={"base": "jax:jit" if n < 30 else "tf:xla"}) for n in range(60)]
    assert {len(one.runs) for one in collect(nights, every, relative=True).series} == {30}
    assert {len(one.runs) for one in collect(nights, every).series} == {60}, "times have no baseline"


def test_a_new_driver_is_a_cause_and_no_other_series():
    runs = slower_from(40)
    runs = [
        run
        if n < 40
        else RunSummary(run.facts.model_copy(update={"machine": {"processor": "A", "driver": "560"}}), run.cells)
        for n, run in enumerate(runs)
    ]
    (found,) = find_changes(collect(runs, every))
    assert ("machine: driver", "550", "560") in found.causes


@pytest.mark.parametrize("cell", [{"disturbed": 4}, {"status": "failed", "reason": "no memory"}])
def test_a_night_without_a_usable_time_is_left_out(cell):
    runs = [night(n, cell=cell if n == 5 else None) for n in range(12)]
    found = collect(runs, every)
    assert {one.runs for one in found.series} == {tuple(n for n in range(12) if n != 5)}
    assert found.disturbed == (3 if "disturbed" in cell else 0)


def test_a_change_of_the_last_three_nights_is_possible_and_has_no_verdict():
    (found,) = find_changes(collect(slower_from(57), every))
    assert found.verdict is None
    assert found.is_possible
    assert found.change.after == 3


def test_a_few_odd_nights_do_not_hide_a_certain_slowdown_from_the_gate():
    """A possible change after it was the newest one, so the gate passed although the cell was still slower."""
    runs = slower_from(40, nights=57)
    runs += [night(n, level=0.12, torch="2.15.0") for n in range(57, 60)]
    history = collect(runs, every)
    changes = find_changes(history)
    assert [(one.change.at, one.verdict) for one in changes] == [(57, None), (40, Verdict.DIFFERENT)]
    assert [one.newest for one in changes] == [False, True]
    assert judge(history, changes, 0.03, []).slower == (changes[1],)


def test_a_certain_change_after_another_one_is_the_newest():
    runs = [night(n, level=0.06 if 20 <= n < 40 else 0.0) for n in range(60)]
    changes = find_changes(collect(runs, every))
    assert [(one.change.at, one.newest) for one in changes] == [(40, True), (20, False)]


def test_cells_are_chosen():
    found = collect(slower_from(40), lambda cell: cell.workload == "mlp-train")
    assert [one.cell.row for one in found.series] == [ROWS[1]]
    assert len(found.cells) == 3
