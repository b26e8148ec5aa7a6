"""Tests in which processes of a cell it is verified that time grows with work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from laboratory import A, B, C, Laboratory, laboratory

from bench.host.executors.job import RowJob
from bench.host.measuring.growth_checks import wanted
from bench.host.storage.kept_growth import KeptGrowth
from bench.host.workers.protocol import Ended
from bench.record import FAILED, OK, TIMEOUT, Record

__all__ = ["laboratory"]


@pytest.mark.parametrize(
    ("status", "cache", "again"),
    [(OK, "cold", True), (OK, "unsure", True), (OK, "warm", False), (OK, None, False), (FAILED, None, True)],
)
def test_a_process_that_compiled_or_failed_is_not_enough(status, cache, again):
    records = [Record(A, 0, 1, status, first_call_cache=cache, settings={"threads": 2})]
    assert wanted([A, B], records) == ((A.name, B.name) if again else (B.name,))


def test_a_process_that_was_interrupted_before_it_finished_is_not_enough():
    assert wanted([A], [Record(A, 0, 1, OK, sample_ns=[1])]) == (A.name,)


def test_growth_is_verified_without_company_and_the_rest_finishes_side_by_side(laboratory):
    laboratory.looks = (1,)
    laboratory.go([A, B])
    assert laboratory.stage.most_beside["finish"] == 1
    (job,) = laboratory.jobs
    laboratory.run(replace(job, growth_verified=()), lambda event: None)
    assert laboratory.stage.most_beside["finish"] == 2


def test_growth_is_verified_in_the_first_process_and_in_the_next_where_the_first_compiled(laboratory):
    laboratory.looks = (4,)
    laboratory.filled.add(C)
    laboratory.go([A, B, C])
    assert sorted(laboratory.stage.growth, key=str) == sorted([(A, 0), (A, 1), (B, 0), (B, 1), (C, 0)], key=str)


def test_growth_is_verified_after_a_process_that_failed_before_it(laboratory):
    laboratory.looks = (3,)
    laboratory.filled.add(A)
    laboratory.stage.ends[A.name, "turn", 0] = Ended(TIMEOUT, "measure", "hangs")
    laboratory.go([A])
    assert laboratory.stage.growth == [(A, 1)]


def test_a_job_that_names_no_cells_has_all_of_them_verified(laboratory):
    laboratory.looks = (1,)
    laboratory.go([A, B])
    (named,) = laboratory.jobs
    assert RowJob.from_json(named.to_json()).growth_verified == (A.name, B.name)
    laboratory.stage.growth.clear()
    laboratory.run(replace(named, growth_verified=(B.name,)), lambda event: None)
    assert laboratory.stage.growth == [(B, 0)]
    laboratory.run(replace(named, growth_verified=None), lambda event: None)
    assert len(laboratory.stage.growth) == 3


@pytest.fixture
def run(tmp_path):
    """Run A, B and C once more in a folder of its own, with what earlier runs kept; return the cells verified."""
    made = []

    def again(*, compiled=(), ends=None, changed=(), rounds=2):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        lab = Laboratory(folder)
        made.append(lab)
        code = {(cell.workload, cell.framework): "code" for cell in (A, B, C)}
        lab.kept_growth = KeptGrowth(tmp_path / "growth", {"torch1": "a lock", "jax": "a lock"}, code, {}, {})
        lab.looks, lab.changed = (rounds,), set(changed)
        lab.filled |= {A, B, C} - set(compiled)
        lab.stage.ends.update(ends or {})
        lab.go([A, B, C])
        return sorted(lab.stage.growth, key=str)

    return again


def test_the_next_run_verifies_only_what_compiles(run):
    assert run() == sorted([(A, 0), (B, 0), (C, 0)], key=str)
    assert run() == []
    assert run(compiled=[B]) == [(B, 0), (B, 1)]
    assert run() == []


def test_a_verification_in_a_process_that_compiled_is_not_kept(run):
    assert (B, 0) in run(compiled=[B], rounds=1)
    assert run() == [(B, 0)]


def test_a_cell_that_failed_is_verified_again(run):
    run()
    assert run(ends={(A.name, "turn", 0): Ended(TIMEOUT, "measure", "hangs")}) == [(A, 1)]
    assert run(ends={(A.name, "turn", 1): Ended(TIMEOUT, "measure", "hangs")}) == []
    assert run() == [(A, 0)]


def test_what_changed_while_it_was_measured_is_verified_again(run):
    run(changed=["torch1"])
    assert run() == sorted([(A, 0), (C, 0)], key=str)
