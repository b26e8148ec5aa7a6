"""Tests how a table of speed-ups fits into a column: in few parts, with names broken as little as possible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.reporting.tables.paper_layout import ROOM, PaperColumn, PaperTable, Shown, fit, table_width, width

NAMES = ("transformer-encoder, mini", "layernorm-softmax", "gemm")


def table(columns: int, names: tuple[str, ...] = NAMES, mode: str = "compile") -> PaperTable:
    entries = (Shown("649 µs"),) * len(names)
    made = tuple(PaperColumn("PyTorch", f"2.{number}", mode, "", entries) for number in range(columns))
    return PaperTable(tuple((name,) for name in names), made, 0)


def test_a_table_that_fits_is_left_as_it_is():
    assert fit(table(2)) == [table(2)]


@pytest.mark.parametrize("columns", range(1, 15))
def test_every_part_fits_and_no_column_is_lost(columns):
    parts = fit(table(columns))
    assert all(table_width(part) <= ROOM for part in parts)
    assert sum((part.columns for part in parts), ()) == table(columns).columns


@pytest.mark.parametrize("sign", [".", ","])
def test_a_column_has_room_for_numbers_that_are_aligned_at_the_decimal_sign(sign):
    numbers = (Shown("123"), Shown(f"0{sign}0047"), Shown("1 ms"))
    assert PaperColumn("", "", "xla", "", numbers).width == pytest.approx(width("123.0047"))
    assert PaperColumn("", "", "max-autotune", "", numbers).width == pytest.approx(width("max-autotune"))
    bold = (replace(numbers[0], bold=True), *numbers[1:])
    assert PaperColumn("", "", "xla", "", bold).width == pytest.approx(1.15 * width("123") + width(".0047"))


def test_two_signs_behind_a_number_widen_the_gap_and_one_does_not():
    """A dagger behind an asterisk touched the number of the next column."""
    column = PaperColumn("", "", "xla", "", (Shown("0.43"), Shown("0.21")))
    one = replace(column, entries=(Shown("0.43", ("*",)), Shown("0.21", ("*",))))
    two = replace(column, entries=(Shown("0.43", ("*", r"\dagger")), Shown("0.21")))
    assert one.width == column.width
    assert two.width == pytest.approx(column.width + two.more_gap)
    assert two.more_gap > 0


def test_names_are_broken_before_the_table_is_divided():
    (part,) = fit(table(4))
    assert any(len(name) > 1 for name in part.names)
    assert part.names[-1] == ("gemm",)


def test_names_stay_whole_where_the_parts_have_room_for_them():
    parts = fit(table(6))
    assert len(parts) == 2
    assert all(len(name) == 1 for part in parts for name in part.names)


def test_a_table_that_cannot_fit_has_a_column_in_each_part():
    parts = fit(table(3, mode="W" * 40))
    assert [len(part.columns) for part in parts] == [1, 1, 1]
