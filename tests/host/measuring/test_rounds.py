"""Tests a run with fake workers: the records of every kind of end, interruption, continuation and stop."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from laboratory import A, B, C, laboratory, turns_of

from bench.host.executors.events import Finished
from bench.host.storage import journal
from bench.host.storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Stop
from bench.host.workers.protocol import Ended
from bench.record import FAILED, SCHEMA_VERSION, TIMEOUT

__all__ = ["laboratory"]


def test_every_cell_gets_a_fresh_process_and_all_its_samples_in_every_round(laboratory):
    records = laboratory.go([A, B, C])
    assert len(records) == 6
    assert {(r.cell, r.round) for r in records} == {(cell, number) for cell in (A, B, C) for number in (0, 1)}
    for record in records:
        assert record.status == "ok"
        assert record.sample_turn == [0, 1, 2, 3]
        assert record.sample_ns == [1000 + record.round] * 4
        assert (record.first_call_s, record.sample_steps, record.memory) == (2.0, [3] * 4, {"peak_bytes": 7})
    assert [what for what, _ in laboratory.stage.log].count("start") == 6


def test_the_first_process_of_a_cell_is_cold_and_the_next_is_warm(laboratory):
    records = laboratory.go([A, B])
    assert {(r.round, r.first_call_cache) for r in records} == {(0, "cold"), (1, "warm")}


def test_after_a_first_process_that_failed_the_cache_is_unsure(laboratory):
    laboratory.stage.ends[A.name, "prepare", 0] = Ended(TIMEOUT, "calibrate", "hangs")
    records = laboratory.go([A, B])
    assert {(r.cell, r.round, r.first_call_cache) for r in records} == {
        (A, 0, None), (B, 0, "cold"), (A, 1, "unsure"), (B, 1, "warm"),
    }  # fmt: skip


@pytest.mark.parametrize("when", ["import", "prepare", "turn", "finish"])
def test_an_end_at_any_request_becomes_a_record_and_the_others_go_on(laboratory, when):
    laboratory.stage.ends[A.name, when, 0] = Ended(TIMEOUT, "somewhere", "hangs")
    records = laboratory.go([A, B])
    bad = [r for r in records if r.status != "ok"]
    assert [(r.cell, r.round, r.status, r.stage, r.reason) for r in bad] == [(A, 0, "timeout", "somewhere", "hangs")]
    assert len([r for r in records if r.cell == B and r.sample_turn == [0, 1, 2, 3]]) == 2
    assert [r.status for r in records if r.cell == A and r.round == 1] == ["ok"]


def test_a_twin_is_not_told_that_it_is_one(laboratory):
    twin = replace(A, environment="torch1~twin")
    records = laboratory.go([A, twin])
    assert {record.cell for record in records} == {A, twin}
    assert set(laboratory.stage.told) == {A}


def test_a_worker_that_cannot_start_becomes_a_record(laboratory, monkeypatch):
    def start(cell, number, attempt, layout):
        raise Ended(FAILED, "start", "no such file")

    monkeypatch.setattr(laboratory.stage, "start", start)
    records = laboratory.go([A])
    assert {(r.status, r.stage, r.reason) for r in records} == {("failed", "start", "no such file")}


def test_a_reference_that_fails_is_told_for_every_cell(laboratory):
    laboratory.reference = Ended(FAILED, "start", "boom")
    records = laboratory.go([A, B])
    assert {r.reason for r in records} == {"the float64 reference could not be computed: boom"}
    assert {r.cell for r in records} == {A, B}


@pytest.mark.parametrize("after", range(0, 17))
def test_an_interrupted_run_loses_no_finished_turn_and_continues(laboratory, after):
    laboratory.stage.interrupt_after = after
    if after < 16:
        with pytest.raises(KeyboardInterrupt):
            laboratory.go([A, B])
    else:
        laboratory.go([A, B])
    assert sum(len(r.sample_ns) for r in journal.read(laboratory.folder)) == after
    assert laboratory.stage.running == set()
    laboratory.stage.interrupt_after = None
    records = laboratory.go([A, B])
    assert laboratory.stage.turns == 16 + (1 if after < 16 else 0)
    for cell in (A, B):
        assert turns_of(records, cell, 0) == turns_of(records, cell, 1) == [0, 1, 2, 3]


def test_a_killed_run_continues_from_the_journal_alone(laboratory, monkeypatch):
    """A kill runs no ``finally``: only what was flushed is there."""
    laboratory.stage.interrupt_after = 5
    monkeypatch.setattr(journal.Journal, "append", lambda self, record: None)
    monkeypatch.setattr(journal.Journal, "forget", lambda self: None)
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B])
    monkeypatch.undo()
    assert sum(len(r.sample_ns) for r in journal.read(laboratory.folder)) == 5
    laboratory.stage.interrupt_after = None
    laboratory.go([A, B])
    assert laboratory.stage.turns == 17


def test_the_same_command_after_the_end_measures_nothing_more(laboratory):
    laboratory.go([A, B])
    laboratory.go([A, B])
    assert laboratory.stage.turns == 16


def test_plain_progress_names_the_cell_and_what_is_left(laboratory, monkeypatch):
    monkeypatch.setattr("bench.host.reporting.progress.PLAIN_S", 0.0)
    laboratory.go([A])
    lines = (laboratory.folder / "out.txt").read_text().splitlines()
    assert "round 1: importing torch1:eager gemm/tiny/float32/cpu" in lines[0]
    assert any(" left  " in line and "measuring" in line for line in lines)


def test_records_are_json_a_line(laboratory):
    laboratory.go([A])
    for line in (laboratory.folder / journal.RECORDS).read_text().splitlines():
        assert json.loads(line)["schema"] == SCHEMA_VERSION


def test_a_settled_row_stops_at_its_look_and_the_others_go_on(laboratory):
    laboratory.looks = (2, 3, 5)
    laboratory.undecided = {2: [C], 3: [C]}
    records = laboratory.go([A, B, C])
    assert {r.round for r in records if r.cell.row == A.row} == {0, 1}
    assert {r.round for r in records if r.cell == C} == {0, 1, 2, 3, 4}
    assert laboratory.stops.made == {A.row: Stop(2, SETTLED), C.row: Stop(5, MOST_ROUNDS)}


def test_in_a_row_that_goes_on_settled_cells_stop_and_a_continued_run_knows_them(laboratory):
    """What a look has stopped follows from the records of the rounds before it."""
    laboratory.looks = (2, 3, 5)
    third = replace(A, mode="torchscript")
    laboratory.undecided = {2: [A, third], 3: [A, third]}
    laboratory.stage.interrupt_after = 30
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B, third])
    laboratory.stage.interrupt_after = None
    records = laboratory.go([A, B, third])
    assert {r.round for r in records if r.cell == B} == {0, 1}
    for cell in (A, third):
        assert {r.round for r in records if r.cell == cell} == {0, 1, 2, 3, 4}
    assert laboratory.stops.made == {A.row: Stop(5, MOST_ROUNDS)}


def test_a_spent_budget_ends_the_run_and_says_so(laboratory):
    laboratory.budget_s = 10.0
    laboratory.slow_down(6.0)
    records = laboratory.go([A, C])
    assert {(r.cell, r.round) for r in records} == {(A, 0), (C, 0)}
    assert set(laboratory.stops.made.values()) == {Stop(1, BUDGET)}


def test_samples_that_cannot_be_true_fail_the_cell_and_stay_in_its_record(laboratory):
    laboratory.peaks = {"torch1/cpu": {"flops_per_s": {"float32": 1e9}, "bandwidths": []}}
    # A step of a third of a microsecond holds 333 operations of this machine.
    laboratory.stage.work = {
        A.name: {"useful_flops": 1e6, "compulsory_bytes": 0.0},
        B.name: {"useful_flops": 300.0, "compulsory_bytes": 0.0},
    }
    records = laboratory.go([A, B])
    bad = [r for r in records if r.cell == A]
    assert {(r.status, r.stage) for r in bad} == {("failed", "plausibility")}
    assert all("faster than this machine can be" in r.reason for r in bad)
    assert all(len(r.sample_ns) == 4 for r in bad)
    assert {r.status for r in records if r.cell == B} == {"ok"}
    # In both rounds, the machine had its chance to show that it is so fast.
    assert laboratory.peaks_asked == [(A, ["float32"])] * 2


def test_a_machine_that_was_slow_when_its_peaks_were_measured_fails_no_cell(laboratory):
    slow = {"threads": 2, "flops_per_s": {"float32": 1e9}, "bandwidths": [[8, 1e9], [64, 1e9]]}
    laboratory.peaks = {"torch1/cpu": slow, "jax/cpu": slow}
    laboratory.peaks_again = {"flops_per_s": {"float32": 9e12}, "bandwidths": [[8, 2e9]], "reasons": {}}
    laboratory.stage.work = {A.name: {"useful_flops": 1e6, "compulsory_bytes": 0.0}}
    records = laboratory.go([A, B])
    assert {r.status for r in records} == {"ok"}
    # The second round knows the better peaks, and nothing is measured once more.
    assert laboratory.peaks_asked == [(A, ["float32"])]
    assert laboratory.peaks["torch1/cpu"] == {
        "threads": 2,
        "flops_per_s": {"float32": 9e12},
        "bandwidths": [[8, 2e9], [64, 1e9]],
        "reasons": {},
    }
    assert laboratory.peaks["jax/cpu"] == slow


def test_an_interrupt_before_the_judgement_lets_no_doubtful_cell_count(laboratory, monkeypatch):
    laboratory.peaks = {"torch1/cpu": {"threads": 2, "flops_per_s": {"float32": 1e9}, "bandwidths": []}}
    laboratory.stage.work = {A.name: {"useful_flops": 1e6, "compulsory_bytes": 0.0}}

    def interrupted(cell, precisions):
        raise KeyboardInterrupt

    monkeypatch.setattr(laboratory, "measure_peaks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A])
    assert {r.stage for r in journal.read(laboratory.folder)} == {"plausibility"}


def test_peaks_that_cannot_be_measured_again_leave_the_old_ones(laboratory):
    known = {"threads": 2, "flops_per_s": {"float32": 1e9}, "bandwidths": []}
    laboratory.peaks = {"torch1/cpu": known}
    laboratory.peaks_again = {"reason": "failed: no memory"}
    laboratory.stage.work = {A.name: {"useful_flops": 1e6, "compulsory_bytes": 0.0}}
    assert {r.stage for r in laboratory.go([A])} == {"plausibility"}
    assert laboratory.peaks == {"torch1/cpu": known}


def test_an_executor_that_breaks_down_loses_no_turn_that_it_told(laboratory, monkeypatch):
    def run(job, emit):
        def some(event):
            if not isinstance(event, Finished):
                emit(event)

        laboratory.stage.interrupt_after = 5
        measure(job, some)

    measure = laboratory.run
    monkeypatch.setattr(laboratory, "run", run)
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B])
    assert not (laboratory.folder / journal.UNFINISHED).exists()
    assert sum(len(r.sample_ns) for r in journal.read(laboratory.folder)) == 5
    monkeypatch.undo()
    laboratory.stage.interrupt_after = None
    laboratory.go([A, B])
    assert laboratory.stage.turns == 17
