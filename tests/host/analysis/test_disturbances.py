from __future__ import annotations

from dataclasses import replace

from bench.host.analysis.disturbances import count_turns


def test_processes_that_took_a_turn_together_lost_one_turn(long_study):
    row = [r for r in long_study.records if r.cell.workload == "mlp-train" and r.round == 0]
    found = count_turns([replace(r, disturbed={"1": "a guest", "3": "another"}) for r in row], 3)
    assert len(row) == 8
    assert (found.turns, found.disturbed, found.left_out, found.kept, found.repeated) == (4, 2, 2, 0, 1)
    assert found.example == "a guest"


def test_turns_of_other_rounds_and_rows_are_others(long_study):
    found = count_turns([replace(r, disturbed={"1": "a guest"}) for r in long_study.records], None)
    assert (found.turns, found.disturbed, found.repeated) == (3 * 10 * 4, 3 * 10, 0)


def test_turns_that_statistics_cannot_do_without_are_kept(long_study):
    record = replace(long_study.records[0], disturbed=dict.fromkeys("012", "a guest"))
    found = count_turns([record], 4)
    assert (found.disturbed, found.left_out, found.kept) == (3, 0, 3)


def test_a_turn_that_was_not_taken_cannot_be_disturbed(long_study):
    assert count_turns([replace(long_study.records[0], disturbed={"7": "a guest"})], 4).disturbed == 0
