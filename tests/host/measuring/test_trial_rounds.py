"""Tests a trial whose cells are measured side by side, with fake lanes and workers: records, order, ends and budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from laboratory import A, B, C, laboratory, turns_of

from bench.host.executors.events import Finished
from bench.host.storage import journal
from bench.host.storage.manifest import BUDGET, Stop
from bench.host.workers.protocol import Ended
from bench.record import TIMEOUT

__all__ = ["laboratory"]
D = replace(B, workload="mlp-train")
CELLS = [A, B, C, D]


class TwoLanes:
    """Two jobs are under way; what the second does is told before what the first does."""

    def __init__(self, laboratory) -> None:
        self._laboratory = laboratory
        self.closed = 0

    def __len__(self) -> int:
        return 2

    def run(self, jobs, emit, done) -> None:
        while pair := [job for job in (next(jobs, None), next(jobs, None)) if job is not None]:
            for job in reversed(pair):
                self._laboratory.run(job, emit)
                done(job)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def trial(laboratory):
    laboratory.lanes = TwoLanes(laboratory)
    return laboratory


def outline(records) -> set:
    return {(r.cell, r.round, r.attempt, r.status, tuple(r.sample_turn), r.checked_again) for r in records}


def test_side_by_side_the_records_are_those_of_rows_in_turns(trial, tmp_path, request):
    side_by_side = trial.go(CELLS)
    trial.lanes, trial.folder = None, tmp_path / "rows"
    trial.folder.mkdir()
    assert {one[:5] for one in outline(side_by_side)} == {one[:5] for one in outline(trial.go(CELLS))}


def test_each_cell_has_a_job_of_its_own_and_a_part_of_the_memory(trial):
    trial.memory_share = 0.9
    trial.go(CELLS)
    assert [len(job.row_round.cells) for job in trial.jobs] == [1] * 8
    assert {job.memory_share for job in trial.jobs} == {0.45}
    assert trial.lanes.closed == 1


def test_records_have_the_order_of_the_jobs_whichever_ends_first(trial):
    stored = [(r.round, r.cell.row, r.cell) for r in trial.go(CELLS)]
    # The second of two jobs ended first, every time.
    assert [cell for _, _, cell in stored] != [job.row_round.cells[0] for job in trial.jobs]
    for number in (0, 1):
        of_round = [(row, cell) for here, row, cell in stored if here == number]
        assert [cell for row, cell in of_round if row == A.row] == [A, B]
        assert [cell for row, cell in of_round if row == C.row] == [C, D]
        assert len({row for row, _ in of_round[:2]}) == 1


def test_all_cells_of_a_row_and_round_share_the_attempt_and_the_layout(trial):
    trial.go(CELLS)
    assert {key[2] for key in trial.stage.layouts} == {1}
    assert all(len(seeds) == 2 and len(set(seeds)) == 1 for seeds in trial.stage.layouts.values())


def test_an_end_becomes_a_record_and_the_others_go_on(trial):
    trial.stage.ends[A.name, "prepare", 0] = Ended(TIMEOUT, "check", "hangs")
    records = trial.go(CELLS)
    assert [(r.cell, r.round, r.reason) for r in records if r.status != "ok"] == [(A, 0, "hangs")]
    assert len(records) == 8


@pytest.mark.parametrize("after", [0, 1, 6, 13, 31])
def test_an_interrupted_trial_loses_no_turn_and_continues(trial, after):
    trial.stage.interrupt_after = after
    with pytest.raises(KeyboardInterrupt):
        trial.go(CELLS)
    assert sum(len(r.sample_ns) for r in journal.read(trial.folder)) == after
    assert trial.stage.running == set()
    assert trial.lanes.closed == 1
    trial.stage.interrupt_after = None
    records = trial.go(CELLS)
    assert trial.stage.turns == 32 + 1
    for cell in CELLS:
        assert turns_of(records, cell, 0) == turns_of(records, cell, 1) == [0, 1, 2, 3]


def test_a_killed_trial_continues_from_the_journal_alone(trial, monkeypatch):
    """A kill runs no ``finally``, and the record of a job that ended early was not written."""
    trial.stage.interrupt_after = 7
    monkeypatch.setattr(journal.Journal, "append", lambda self, record: None)
    monkeypatch.setattr(journal.Journal, "forget", lambda self: None)
    with pytest.raises(KeyboardInterrupt):
        trial.go(CELLS)
    monkeypatch.undo()
    assert sum(len(r.sample_ns) for r in journal.read(trial.folder)) == 7
    trial.stage.interrupt_after = None
    trial.go(CELLS)
    assert trial.stage.turns == 32 + 1


def test_lanes_that_break_down_lose_no_turn_that_they_told(trial, monkeypatch):
    def run(job, emit):
        measure(job, lambda event: isinstance(event, Finished) or emit(event))

    measure = trial.run
    trial.stage.interrupt_after = 5
    monkeypatch.setattr(trial, "run", run)
    with pytest.raises(KeyboardInterrupt):
        trial.go(CELLS)
    assert not (trial.folder / journal.UNFINISHED).exists()
    assert sum(len(r.sample_ns) for r in journal.read(trial.folder)) == 5


def test_a_spent_budget_ends_the_trial_between_rows(trial):
    trial.budget_s = 20.0
    trial.slow_down(11.0)
    records = trial.go(CELLS)
    rows = {r.cell.row for r in records}
    assert len(rows) == 1
    assert len(records) == 2
    assert set(trial.stops.made.values()) == {Stop(0, BUDGET), Stop(1, BUDGET)}


def test_progress_counts_the_cells_that_are_over(trial, monkeypatch):
    monkeypatch.setattr("bench.host.reporting.progress.PLAIN_S", 0.0)
    trial.go(CELLS)
    counts = [line.split()[0] for line in (trial.folder / "out.txt").read_text().splitlines()]
    assert counts[0] == "0/8"
    assert counts[-1] == "7/8"
    assert [int(count.split("/")[0]) for count in counts] == sorted(int(count.split("/")[0]) for count in counts)
