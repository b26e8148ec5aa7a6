"""Tests of what a run shows of its progress."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bench.host.reporting.progress import PLAIN_S, WARM_SHARE, Display, RemainingTime


def seen(**options) -> RemainingTime:
    """Return the estimate of two rows in two rounds, of which the first row took 100 s in the first round."""
    remaining = RemainingTime(**options)
    for number in (0, 1):
        for row in ("gemm", "dispatch"):
            remaining.expect(number, row, processes=4)
    remaining.done(0, "gemm", 100.0, measured=True)
    return remaining


def test_the_plan_is_the_estimate_until_a_row_was_measured():
    assert RemainingTime().remaining_s() is None
    assert RemainingTime(60.0).remaining_s() == 60.0


def test_rows_that_were_not_seen_take_as_long_as_those_that_were_and_less_in_later_rounds():
    assert seen().remaining_s() == pytest.approx(100 + 2 * 100 * WARM_SHARE)
    assert seen().processes == 12
    assert seen().next_s(1, "dispatch") == 0.0


def test_a_row_that_was_not_measured_tells_nothing_of_the_time():
    remaining = RemainingTime(60.0)
    remaining.expect(0, "gemm", processes=4)
    remaining.done(0, "gemm", 0.1, measured=False)
    assert (remaining.remaining_s(), remaining.processes) == (60.0, 0)


@pytest.mark.parametrize(("left_s", "shown"), [(30.0, 30.0), (-5.0, 0.0), (9000.0, 220.0), (None, 220.0)])
def test_no_more_time_is_left_than_the_budget_has(left_s, shown):
    assert seen(budget_left_s=lambda: left_s).remaining_s() == pytest.approx(shown)


def test_without_a_terminal_lines_come_seldom_and_say_how_far_the_run_is():
    now, written = [0.0], io.StringIO()
    display = Display(Console(file=written, width=100), seen(budget_left_s=lambda: 30.0), clock=lambda: now[0])
    display.at("round 1: importing jax:jit gemm", 0)
    first = "0/12  30 s left  round 1: importing jax:jit gemm\n"
    assert written.getvalue() == first
    display.at("round 1: measuring jax:jit gemm", 4)
    assert written.getvalue() == first
    now[0] += PLAIN_S
    display.at("round 1: measuring jax:jit gemm", 4)
    assert written.getvalue() == f"{first}4/16  30 s left  round 1: measuring jax:jit gemm\n"


def test_nothing_is_counted_before_the_rounds():
    written = io.StringIO()
    display = Display(Console(file=written, width=100), RemainingTime(60.0), clock=lambda: 0.0)
    display.at("measuring the peaks of this machine with jax", 0)
    assert written.getvalue() == "1 min 00 s left  measuring the peaks of this machine with jax\n"
