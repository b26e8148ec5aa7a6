"""Tests the ranking of versions by their best modes: which modes they choose from, in which rows, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.analysis.best_modes import BestModes, computes_as_asked
from bench.host.analysis.ranking import rank
from bench.host.analysis.run_analysis import analyse
from bench.host.storage.manifest import Manifest
from bench.record import Record

BASE = "torch1:eager"
FRAMEWORKS = {"torch1": "torch", "torch2": "torch", "tf2": "tensorflow", "jax": "jax"}
ROWS = tuple(f"gemm-{number}" for number in range(40))


def records(factors: dict[str, tuple[float | None, ...]], rounds: int = 6, noise: float = 0.002) -> list[Record]:
    """Make records of {column: its time in each row, over that of the baseline}."""
    random = np.random.default_rng(3)
    made = []
    for column, own in factors.items():
        environment, _, mode = column.partition(":")
        for workload, factor in zip(ROWS, own, strict=False):
            cell = Cell(environment, FRAMEWORKS[environment], mode, workload, "tiny", "float32", "cpu", 1)
            for number in range(rounds if factor else 0):
                level = random.normal(0.0, noise)
                ns = (1e6 * factor * np.exp(level + random.normal(0.0, 0.001, 6))).astype(int).tolist()
                made.append(
                    Record(cell, number, 1, "ok", sample_ns=ns, sample_steps=[10] * 6, sample_turn=list(range(6)))
                )
    return made


def best_of(made: list[Record]) -> BestModes | None:
    manifest = Manifest.from_json({"study": {"baseline": BASE}})
    (track,) = rank(analyse(made, manifest), manifest).tracks
    return track.best_modes


def values(best: BestModes) -> dict[str, float]:
    return {one.environment: round(one.ratio.value, 2) for one in best.versions}


MIXED = {
    BASE: (1.0, 1.0, 1.0, 1.0),
    "torch2:eager": (1.0, 1.0, 0.25, 0.25),
    "torch2:compile": (0.25, 0.25, 1.0, None),
    "jax:jit": (0.5, 0.5, 0.5, 0.5),
}


def test_a_version_whose_modes_are_best_in_different_rows_leads_with_the_best_of_each():
    best = best_of(records(MIXED))
    assert values(best) == {"torch2": 0.25, "jax": 0.5, "torch1": 1.0}
    assert best.rows == 4
    assert best.chosen_by_itself == 0
    assert [one.leads for one in best.versions] == [True, False, False]
    first, second, _baseline = best.versions
    assert first.columns == ("torch2:eager", "torch2:compile")
    assert first.ratio.low <= first.ratio.value <= first.ratio.high < second.ratio.low
    assert first.ratio.n == 4


def test_a_row_counts_where_each_version_has_a_time_in_any_mode():
    made = records(MIXED | {"jax:jit": (0.5, 0.5, 0.5, None)})
    assert best_of(made).rows == 3


def test_there_is_nothing_to_choose_where_each_version_has_one_mode():
    assert best_of(records({BASE: MIXED[BASE], "jax:jit": MIXED["jax:jit"]})) is None


def test_there_is_nothing_to_rank_with_one_version():
    assert best_of(records({BASE: MIXED[BASE], "torch1:torchscript": (0.5, 0.5, 2.0, 2.0)})) is None


def test_the_version_of_the_baseline_chooses_too():
    best = best_of(records(MIXED | {"torch1:torchscript": (0.5, 2.0, 2.0, 0.5)}))
    assert values(best)["torch1"] == pytest.approx(0.71, abs=0.01)


def test_equal_modes_are_no_faster_together():
    modes = {f"tf2:mode-{number}": (0.5,) * 40 for number in range(8)}
    best = best_of(records({BASE: (1.0,) * 40} | modes, rounds=3, noise=0.1))
    (found,) = [one for one in best.versions if one.environment == "tf2"]
    # Of three processes the least of eight medians lies about 9 % below.
    assert found.ratio.value == pytest.approx(0.5, rel=0.04)


def test_a_single_process_chooses_for_itself_and_this_is_counted():
    best = best_of(records(MIXED, rounds=1))
    assert best.chosen_by_itself == 3


def test_a_mode_with_few_processes_takes_none_from_the_others():
    made = records(MIXED)
    few = [one for one in made if one.cell.column != "torch2:eager" or one.round == 0]
    best = best_of(few)
    assert best.chosen_by_itself == 0
    # In the third row it is out, in the fourth it is alone.
    assert best.rows == 4
    assert values(best)["torch2"] == pytest.approx((0.25 * 0.25 * 1.0 * 0.25) ** 0.25, abs=0.01)


def test_a_mode_of_another_precision_is_no_better_mode():
    autocast = {"torch2:autocast": (0.01, 0.01, 0.01, 0.01)}
    assert values(best_of(records(MIXED | autocast)))["torch2"] == 0.25
    # In rows of its own precision it is one.
    both = [
        replace(record, cell=replace(record.cell, precision=precision))
        for precision in ("float32", "bfloat16")
        for record in records(MIXED | autocast)
    ]
    assert values(best_of(both))["torch2"] == pytest.approx((0.25 * 0.01) ** 0.5, abs=0.005)
    cell = Cell("torch2", "torch", "autocast", "gemm", "tiny", "float32", "cpu", 1)
    assert not computes_as_asked(cell)
    assert computes_as_asked(replace(cell, precision="bfloat16"))
    assert computes_as_asked(replace(cell, mode="eager"))
    assert computes_as_asked(replace(cell, mode="of-others"))
    assert computes_as_asked(replace(cell, framework="of-others"))
