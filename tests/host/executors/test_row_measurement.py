"""Tests one row round with fake workers: the order of work, the turns, disturbances and repeats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from laboratory import A, B, C, Driver, FakeWorker, laboratory

from bench.host.executors.events import Finished, Waited
from bench.host.storage import journal
from bench.host.workers.protocol import Ended
from bench.record import MISMATCH, TIMEOUT

__all__ = ["laboratory"]


def test_cells_of_a_row_take_turns_sample_by_sample(laboratory):
    laboratory.go([A, B])
    turns = [column for what, column in laboratory.stage.log if what == "turn"]
    assert len(turns) == 16
    for first, second in zip(turns[::2], turns[1::2], strict=True):
        assert {first, second} == {A.column, B.column}


def test_without_time_nothing_is_taken_again(laboratory):
    laboratory.gpus = Driver([{FakeWorker.process_id: 5, 1 << 29: 100}])
    laboratory.budget_s, laboratory.seconds = 10.0, 0.0
    gpu = replace(A, device="gpu")
    go = laboratory.stage.start

    def start(*given):
        laboratory.seconds = 11.0
        return go(*given)

    laboratory.stage.start = start
    (record,) = laboratory.go([gpu])
    assert record.sample_turn == [0, 1, 2, 3]
    assert sorted(record.disturbed) == ["0", "1", "2", "3"]


def test_the_frequencies_of_the_bound_processors_are_kept_as_a_range(laboratory, monkeypatch):
    asked = []

    def frequencies(processors):
        asked.append(processors)
        return [2000.0 + len(asked), 3000.0 - len(asked)]

    monkeypatch.setattr("bench.host.executors.row_measurement.frequencies_mhz", frequencies)
    (first, second) = laboratory.go([A])
    assert set(asked) == {(0, 1)}
    assert (first.frequency_mhz, second.frequency_mhz) == ([2001.0, 2999.0], [2005.0, 2995.0])


def test_who_does_not_measure_first_calls_makes_them_at_once_and_measures_in_one_place(laboratory):
    laboratory.at_once = True
    laboratory.stage.shared |= {"prepare"}
    records = laboratory.go([A, B])
    assert [record.status for record in records] == ["ok"] * 4
    what = [said for said, _ in laboratory.stage.log]
    assert what[:10] == ["start"] * 2 + ["import"] * 2 + ["prepare"] * 2 + ["move", "calibrate"] * 2
    assert set(what[10 : what.index("finish")]) == {"turn"}
    assert [record.import_alone for record in records] == [False] * 4
    assert [record.first_call_s for record in records] == [None] * 4


def test_first_calls_are_made_alone(laboratory):
    records = laboratory.go([A, B])
    assert [(record.first_call_s, record.first_call_cache) for record in records] == [(2.0, "cold")] * 2 + [
        (2.0, "warm")
    ] * 2
    assert laboratory.stage.most_beside["prepare"] == 1


def test_a_version_that_cannot_read_its_code_back_is_neither_cold_nor_warm(laboratory):
    laboratory.stage.keeps_code = False
    records = laboratory.go([A, B])
    assert [(record.first_call_s, record.first_call_cache) for record in records] == [(2.0, None)] * 4


@pytest.mark.parametrize("when", ["import", "prepare", "move", "calibrate"])
def test_an_end_while_all_prepare_at_once_leaves_the_other_alone(laboratory, when):
    laboratory.at_once = True
    laboratory.stage.shared |= {"prepare"}
    laboratory.stage.ends[A.name, when, 0] = Ended(TIMEOUT, "somewhere", "hangs")
    records = laboratory.go([A, B])
    assert [r.cell for r in records if r.status != "ok"] == [A]
    assert len([r for r in records if r.cell == B and r.sample_turn == [0, 1, 2, 3]]) == 2


def test_workers_end_together_when_all_have_finished_and_before_the_next_row_starts(laboratory):
    laboratory.looks = (1,)
    laboratory.go([A, B, C])
    said = [what for what, _ in laboratory.stage.log if what in ("start", "finish", "end", "close")]
    both = ["start"] * 2 + ["finish"] * 2 + ["end"] * 2 + ["close"] * 2
    alone = ["start", "finish", "end", "close"]
    assert said in (both + alone, alone + both)
    assert laboratory.stage.running == set()


def test_a_worker_that_failed_is_not_waited_for_again(laboratory):
    laboratory.looks = (1,)
    laboratory.stage.ends[A.name, "finish", 0] = Ended(TIMEOUT, "finish", "hangs")
    records = {record.cell: record for record in laboratory.go([A, B])}
    assert (records[A].status, records[B].status) == ("timeout", "ok")
    assert [column for what, column in laboratory.stage.log if what in ("end", "close")] == [B.column] * 2


def test_processes_that_take_turns_share_a_memory_layout_and_no_others_do(laboratory):
    laboratory.go([A, B, C])
    layouts = laboratory.stage.layouts
    assert {row for row, _, _ in layouts} == {A.row, C.row}
    assert all(len(set(seeds)) == 1 for seeds in layouts.values())
    assert len({seeds[0] for seeds in layouts.values()}) == len(layouts)


def test_a_disturbed_turn_is_marked_in_every_process_and_repeated(laboratory):
    laboratory.stage.waits.update({(A.name, 0, 2): 900, (B.name, 0, 2): 800, (B.name, 0, 3): 800})
    records = laboratory.go([A, B])
    disturbed = [r for r in records if r.disturbed]
    assert {(r.cell, r.round, tuple(r.disturbed)) for r in disturbed} == {(A, 0, ("2",)), (B, 0, ("2",))}
    assert "torch1:eager waited 45% of it for a processor" in disturbed[0].disturbed["2"]
    assert all(r.sample_turn == [0, 1, 2, 3, 4] for r in disturbed)
    assert [r.sample_turn for r in records if r.round == 1] == [[0, 1, 2, 3]] * 2


def test_repeats_are_limited(laboratory):
    waits = {(cell.name, 0, turn): 900 for cell in (A, B) for turn in (1, 2, 4)}
    laboratory.stage.waits.update({**waits, (C.name, 0, 0): 900})
    first = {r.cell: r for r in laboratory.go([A, B, C]) if r.round == 0}
    assert {cell: tuple(record.sample_turn) for cell, record in first.items()} == {
        A: (0, 1, 2, 3, 4, 5),
        B: (0, 1, 2, 3, 4, 5),
        C: (0, 1, 2, 3, 4),
    }
    assert list(first[B].disturbed) == ["1", "2", "4"]


def test_the_two_sides_swap_places_every_round_where_they_begin_at_once(laboratory):
    laboratory.at_once = True
    laboratory.stage.shared |= {"prepare"}
    twin = replace(A, environment="torch1~twin")
    laboratory.go([A, twin])
    begun = [dict(laboratory.stage.places[i : i + 2]) for i in (0, 2)]
    assert begun == [{A: (0, 1), twin: (2, 3)}, {A: (2, 3), twin: (0, 1)}]


def test_without_processors_for_both_sides_they_begin_one_after_the_other(laboratory):
    laboratory.at_once, laboratory.beside = True, ()
    records = laboratory.go([A, B])
    assert [record.status for record in records] == ["ok"] * 4
    assert {where for _, where in laboratory.stage.places} == {(0, 1)}
    assert "move" not in [what for what, _ in laboratory.stage.log]


def test_a_job_says_what_is_left_of_the_budget(laboratory):
    laboratory.budget_s, laboratory.seconds = 10.0, 0.0
    laboratory.go([A])
    assert [job.left_s for job in laboratory.jobs] == [10.0, 10.0]
    laboratory.budget_s = None
    laboratory.go([C])
    assert laboratory.jobs[-1].left_s is None


def test_an_interrupt_while_a_record_is_told_keeps_what_was_found_of_the_others(laboratory, monkeypatch):
    told: list = []
    measure = laboratory.run

    def run(job, emit):
        def tell(event):
            told.append(event)
            if len([one for one in told if isinstance(one, Finished)]) == 1 and isinstance(event, Finished):
                raise KeyboardInterrupt
            emit(event)

        measure(job, tell)

    for cell in (A, B):
        laboratory.stage.ends[cell.name, "finish", 0] = Ended(MISMATCH, "check", "differs")
    monkeypatch.setattr(laboratory, "run", run)
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B])
    first, second, waited = told[-3:]
    assert {first.record.cell, second.record.cell} == {A, B}
    assert isinstance(waited, Waited)
    status = {record.cell: record.status for record in journal.read(laboratory.folder)}
    # Of the first, which was not told, its turns are known.
    assert status == {first.record.cell: "ok", second.record.cell: MISMATCH}


def test_an_interrupt_while_a_worker_is_killed_leaves_no_other_worker_and_loses_no_record(laboratory, monkeypatch):
    killed: list = []
    told: list = []
    kill, measure = FakeWorker.kill, laboratory.run

    def interrupted(worker):
        kill(worker)
        killed.append(worker)
        if len(killed) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(FakeWorker, "kill", interrupted)
    monkeypatch.setattr(laboratory, "run", lambda job, emit: measure(job, lambda one: emit(told.append(one) or one)))
    laboratory.stage.interrupt_after = 4
    with pytest.raises(KeyboardInterrupt):
        laboratory.go([A, B])
    assert len(killed) == 2
    assert laboratory.stage.running == set()
    assert [type(event) for event in told[-3:]] == [Finished, Finished, Waited]
    assert journal.read(laboratory.folder) == [event.record for event in told[-3:-1]]
