"""Tests that a container is compared with the venv of its lock, and with nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.analysis.container_costs import container_costs, venvs_of_containers
from bench.host.analysis.run_analysis import analyse
from bench.host.reporting.tables import containers
from bench.host.statistics.verdict import Verdict

VENV = {"provider": "venv", "lock_hash": "a"}
CONTAINER = {"provider": "container", "lock": "torch2", "lock_hash": "a"}
ENVIRONMENTS = {"torch1": {"provider": "venv", "lock_hash": "b"}, "torch2": VENV, "torch2-container": CONTAINER}


def with_container(study, factor: float):
    """Add a container that takes ``factor`` times as long as torch2."""
    for record in [record for record in study.records if record.cell.environment == "torch2"]:
        cell = replace(record.cell, environment="torch2-container")
        sample_ns = [round(ns * factor) for ns in record.sample_ns]
        study.records.append(replace(record, cell=cell, sample_ns=sample_ns))
        if cell.to_json() not in study.run["planned"]:
            study.run["planned"].append(cell.to_json())
    return study


def analysed(study, environments=ENVIRONMENTS):
    study.run["environments"] = environments
    return analyse(study.records, study.manifest), study.manifest


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.001, Verdict.EQUIVALENT), (1.2, Verdict.DIFFERENT), (0.8, Verdict.DIFFERENT)]
)
def test_each_cell_of_a_container_is_compared_with_that_of_its_venv(long_study, factor, verdict):
    found = container_costs(*analysed(with_container(long_study, factor)))
    assert len(found) == 6
    for cost in found:
        assert cost.container.cell == replace(cost.venv.cell, environment="torch2-container")
        assert cost.comparison.ratio.estimate.value == pytest.approx(factor, rel=1e-3)
        assert cost.comparison.verdict is verdict


@pytest.mark.parametrize(
    "changes",
    [
        {"torch2-container": {**CONTAINER, "lock_hash": "c"}},
        {"torch2-container": {**CONTAINER, "lock": "torch2-container"}},
        {"torch2-container": {"provider": "container", "engine": None}},
        {"torch2": {"provider": "existing"}},
        {"torch2": {}},
    ],
)
def test_what_is_not_of_one_lock_is_not_a_pair(long_study, changes):
    assert venvs_of_containers({**ENVIRONMENTS, **changes}) == {}
    assert containers.table(*analysed(with_container(long_study, 1.0), {**ENVIRONMENTS, **changes})) is None


def test_a_cell_that_failed_has_no_ratio_but_a_row(long_study):
    study = with_container(long_study, 1.0)
    study.cells = [record.cell for record in study.records]
    study.end("torch2-container:eager", "dispatch", "failed", "start", "the engine stopped")
    found = container_costs(*analysed(study))
    failed = [cost for cost in found if cost.comparison is None]
    assert [cost.container.status for cost in failed] == ["failed"]


@pytest.mark.parametrize("environment", ["torch2", "torch2-container"])
def test_a_time_that_other_programs_disturbed_gives_no_ratio_and_is_no_comparison(long_study, environment):
    study = with_container(long_study, 1.2)
    study.change(f"{environment}:eager", "dispatch", other_load=0.9)
    analysis, manifest = analysed(study)
    found = container_costs(analysis, manifest)
    assert [cost.comparison is None for cost in found] == [True] + [False] * 5
    made = containers.table(analysis, manifest)
    assert [entry.text for entry in made.groups[0].rows[0]][3:] == ["-", "", "–"]
    assert made.groups[0].rows[0][3].notes == ("disturbed: other programs were computing, so the time is not compared",)
    assert "Benjamini-Hochberg over 5 comparisons" in made.remarks[0]


def test_the_table_says_the_ratio_with_its_verdict(long_study):
    made = containers.table(*analysed(with_container(long_study, 1.001)))
    row = [entry.text for entry in made.groups[0].rows[0]]
    assert row[:3] == ["dispatch", "torch2-container 2.15 eager", "PyTorch 2.15 eager"]
    assert row[3].startswith("1.00")
    assert row[5] == "≈ equivalent"
    assert "Verdicts: equivalent where the 99% interval lies within ±2%" in made.remarks[0]
