"""Tests where a series ends and another begins: which cells, since which run, and why."""

from __future__ import annotations

from test_series import ROWS, every, night

from bench.host.analysis.series import collect
from bench.host.analysis.series_breaks import find_breaks


def test_a_new_machine_is_one_break_of_all_cells_with_both_names():
    history = collect([night(n, machine="A" if n < 4 else "B") for n in range(8)], every)
    (found,) = find_breaks(history)
    assert (found.at, found.differences) == (4, (("processor", "A", "B"),))
    assert [cell.name for cell in found.cells] == [
        f"torch:eager {ROWS[0]}",
        f"torch:eager {ROWS[1]}",
        f"jax:jit {ROWS[0]}",
    ]


def test_breaks_are_listed_from_the_newest_each_against_the_series_before():
    def settings(n):
        return {"threads": "2" if n < 3 else "4"}

    history = collect([night(n, settings=settings(n), machine="A" if n < 6 else "B") for n in range(9)], every)
    assert [(one.at, one.differences) for one in find_breaks(history)] == [
        (6, (("processor", "A", "B"),)),
        (3, (("setting threads", "2", "4"),)),
    ]


def test_a_baseline_that_changed_breaks_series_of_ratios_only():
    def runs():
        for n in range(6):
            run = night(n)
            yield type(run)(run.facts.model_copy(update={"baseline": "jax:jit" if n < 3 else "tf:xla"}), run.cells)

    assert find_breaks(collect(runs(), every)) == []
    (found,) = find_breaks(collect(runs(), every, relative=True), relative=True)
    assert (found.at, found.differences) == (3, (("baseline", "jax:jit", "tf:xla"),))


def test_one_long_series_has_no_break():
    assert find_breaks(collect([night(n) for n in range(5)], every)) == []
