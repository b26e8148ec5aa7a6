"""Tests the measuring of pairs: the budget ends it after the round that does not fit any more, and nothing is lost."""

from __future__ import annotations

import sys
from functools import partial

import pytest
from rich.console import Console
from small_project import write

from bench.cell import Cell
from bench.host import environments
from bench.host.measuring import pair_measurement
from bench.host.measuring.pair_measurement import BudgetSpent, PairMeasurement
from bench.host.measuring.stopping import Stops
from bench.host.study import study_file

THERE = f"""
[environments.there]
provider = "existing"
interpreter = "{sys.executable}"
framework = "numpy"
modes = ["eager"]
"""


def test_a_spent_budget_ends_the_rounds_and_keeps_their_pairs(tmp_path, monkeypatch):
    write(tmp_path, more=THERE)
    study = study_file.load(tmp_path / "matrix.toml")
    one, other = cells = [
        Cell(name, "numpy", "eager", "gemm", "check", "float32", "cpu", 1) for name in ("here", "there")
    ]
    prepared = {
        cell.environment: environments.prepare(
            study.environments[cell.environment], root=tmp_path, announce=lambda text: None, registry=study.registry
        )
        for cell in cells
    }
    profile = study.profiles["brief"].model_copy(update={"workers": "own"})
    measurement = PairMeasurement(tmp_path, tmp_path / "pairs", study, profile, 1, Console(quiet=True))
    with monkeypatch.context() as patch:
        # A busy machine could take all of it before the first round. A second one, of processes that start, never fits.
        patch.setattr(pair_measurement, "Stops", partial(Stops, clock=lambda: 0.0))
        with pytest.raises(BudgetSpent) as spent:
            measurement.measure(one, other, prepared, 5, budget_s=0.1)
    # The first round begins while there is time, and is measured whole.
    assert len(spent.value.ratios) == 1
    assert len(measurement.stored(one, other, prepared)) == 1
    ratios, failed = measurement.measure(one, other, prepared, 1, budget_s=600.0)
    assert (len(ratios), failed) == (2, {})
