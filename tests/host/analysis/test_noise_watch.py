"""Tests which turns are called disturbed: by waiting alone, never by how long a sample took."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.analysis.noise_watch import (
    crowded,
    disturbed_turns,
    doubtful_turns,
    left_out,
    repeats,
    waiting_shares,
)
from bench.record import Record

CELL = Cell("torch1", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)


def record(waits: list[int], sample_ns: int = 1000, cell: Cell = CELL) -> Record:
    return Record(
        cell,
        0,
        1,
        "ok",
        sample_ns=[sample_ns] * len(waits),
        sample_wait_ns=waits,
        sample_turn=list(range(len(waits))),
    )


def test_a_share_is_of_all_threads_time():
    assert waiting_shares(record([0, 500, 2000])) == {0: 0.0, 1: 0.25, 2: 1.0}


def test_a_burst_is_found_and_named():
    assert disturbed_turns([record([10, 20, 600, 15])], {}) == [{2: "torch1:eager waited 30% of it for a processor"}]


def test_threads_that_always_get_in_each_others_way_are_not_a_disturbance():
    assert disturbed_turns([record([600, 610, 590, 605])], {}) == [{}]


@given(st.lists(st.integers(0, 199), min_size=1, max_size=30))
def test_waits_below_a_tenth_disturb_nobody(waits):
    assert disturbed_turns([record(waits)], {}) == [{}]


@given(st.lists(st.integers(1, 10**9), min_size=4, max_size=4))
def test_how_long_a_sample_took_is_not_asked(sample_ns):
    slow = replace(record([0, 0, 0, 0]), sample_ns=sample_ns)
    assert disturbed_turns([slow], {}) == [{}]


def test_a_kernel_that_does_not_tell_disturbs_nobody():
    assert disturbed_turns([replace(record([0, 0]), sample_wait_ns=[])], {}) == [{}]


def test_somebody_on_the_device_disturbs_the_turn():
    stranger = {1: "another process on the GPU: 42"}
    one_thread = record([0, 0], cell=replace(CELL, threads=1))
    assert disturbed_turns([record([0, 0])], stranger) == [stranger]
    assert disturbed_turns([one_thread, one_thread], stranger) == [stranger, stranger]


def test_a_turn_that_several_lost_names_them_all():
    other = replace(CELL, environment="jax", mode="jit")
    found = disturbed_turns([record([0, 0, 900, 0]), record([0, 0, 800, 0], cell=other)], {})
    assert [each[2].count("waited") for each in found] == [2, 2]


def test_one_thread_that_waited_disturbs_no_other_cell():
    one, two, three = (replace(CELL, environment=name, threads=1) for name in ("a", "b", "c"))
    found = disturbed_turns([record([0, 900], cell=one), record([800, 0], cell=two), record([0, 0], cell=three)], {})
    assert [set(each) for each in found] == [{1}, {0}, set()]


def test_several_threads_of_one_process_that_wait_for_each_other_are_nobody_else():
    """The scheduler has put both threads of one cell on the same processor, in some turns."""
    jax = replace(CELL, environment="jax", mode="jit")
    quiet, own = record([0, 0, 0, 0]), record([0, 900, 0, 900], cell=jax)
    assert disturbed_turns([quiet, own], {}) == [{}, {}]
    assert [set(each) for each in disturbed_turns([record([0, 900, 0, 0]), own], {})] == [{1}, {1}]
    third = record([0, 900, 0, 0], cell=replace(CELL, environment="torch2"))
    assert [set(each) for each in disturbed_turns([quiet, own, third], {})] == [{1}, {1}, {1}]


def test_threads_that_wait_for_each_other_leave_no_processor_unused():
    """A background thread of the framework queues in some turns: the process computes all the same."""
    alone = replace(record([0, 0, 400, 0, 400, 0]), cell=replace(CELL, threads=1))
    own = replace(alone, sample_cpu_ns=[1000, 1000, 990, 1000, 1000, 1000])
    foreign = replace(alone, sample_cpu_ns=[1000, 1000, 600, 1000, 610, 1000])
    assert disturbed_turns([own], {}) == [{}]
    assert set(disturbed_turns([foreign], {})[0]) == {2, 4}
    assert waiting_shares(foreign)[4] == pytest.approx(0.39)


def test_a_single_thread_that_always_waits_is_disturbed_by_somebody_else():
    """Two processes share one processor from the first turn to the last."""
    alone = replace(record([500] * 6), cell=replace(CELL, threads=1), sample_cpu_ns=[500] * 6)
    assert set(disturbed_turns([alone], {})[0]) == set(range(6))


def test_turns_in_which_few_waited_are_doubtful():
    quiet = record([0, 0, 0, 0])
    jax, torch2 = (replace(CELL, environment=name) for name in ("jax", "torch2"))
    assert doubtful_turns([quiet, record([0, 900, 0, 0], cell=jax)]) == {1}
    assert doubtful_turns([quiet, record([0, 900, 0, 0], cell=jax), record([0, 900, 0, 0], cell=torch2)]) == set()
    assert doubtful_turns([quiet]) == set()


def test_a_crowd_is_found_as_long_as_some_turns_were_left_alone():
    (found,) = disturbed_turns([record([600, 10, 900, 700, 20, 800, 650, 900, 30, 710])], {})
    assert set(found) == {0, 2, 3, 5, 6, 7, 9}


def test_at_most_half_of_the_turns_are_repeated():
    nine = dict.fromkeys(range(9), "x")
    assert (repeats([{1: "x", 2: "x"}], 10), repeats([nine], 10), repeats([{0: "x"}], 1)) == (2, 5, 0)


def test_as_many_turns_are_repeated_as_a_pair_has_lost():
    assert repeats([{1: "x"}, {2: "x"}], 10) == 2
    assert repeats([{turn: "x"} for turn in range(8)], 10) == 2
    assert repeats([{}, {}], 10) == repeats([], 10) == 0


def test_disturbed_turns_are_left_out_unless_fewer_than_half_remain():
    turns = record([0, 0, 0, 0])
    assert left_out(replace(turns, disturbed={"1": "x", "9": "x"})) == {1}
    assert left_out(replace(turns, disturbed={"0": "x", "1": "x"})) == {0, 1}
    assert left_out(replace(turns, disturbed={"0": "x", "1": "x", "2": "x"})) == set()


@pytest.mark.parametrize(
    ("threads", "load", "found"), [(2, 0.3, True), (2, 0.2, False), (2, None, False), (1, 0.9, False)]
)
def test_others_beside_several_threads_are_known_by_what_they_computed(threads, load, found):
    """Somebody who computes in every turn makes the threads wait in every turn, as they do for each other."""
    beside = replace(record([500] * 6), cell=replace(CELL, threads=threads), other_load=load)
    assert threads == 1 or disturbed_turns([beside], {}) == [{}]
    assert crowded(beside) is found
