from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.reporting.renderers.latex_parts import LINES, ROW_LENGTH, column_widths, height, parts_of
from bench.host.reporting.tables.table import Column, Entry, Group, Table


def make(columns: int = 3, groups: tuple[int, ...] = (4,), width: int = 8, remarks: tuple[str, ...] = ()) -> Table:
    return Table(
        "t",
        "Title",
        "Caption: and more.",
        tuple(Column(f"c{i}") for i in range(columns)),
        tuple(
            Group(
                Entry(f"group {g}"),
                ("",) * columns,
                tuple(tuple(Entry(f"{g}.{row}.{i}".ljust(width, "x")) for i in range(columns)) for row in range(rows)),
            )
            for g, rows in enumerate(groups)
        ),
        remarks,
    )


def texts(tables) -> list[str]:
    return [entry.text for table in tables for row in table.rows for entry in row[table.names :]]


def test_a_table_that_fits_stays_whole():
    table = make(remarks=("One remark.",))
    assert list(parts_of(table)) == [table]


def test_a_wide_table_repeats_what_names_its_rows():
    table = replace(make(columns=14, width=16), names=2)
    parts = list(parts_of(table))
    assert len(parts) == 2
    assert all([column.title for column in part.columns[:2]] == ["c0", "c1"] for part in parts)
    assert sum(len(part.columns) - 2 for part in parts) == 12


@given(st.integers(2, 30), st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 30))
def test_every_part_fits_and_nothing_is_lost(columns, groups, width):
    table = make(columns, tuple(groups), width)
    parts = list(parts_of(table))
    assert all(height(part) <= LINES for part in parts)
    assert all(sum(column_widths(part)) <= ROW_LENGTH for part in parts)
    assert sorted(texts(parts)) == sorted(texts([table]))
    assert len({part.name for part in parts}) == len(parts)


def test_remarks_stand_below_the_first_part_alone():
    first, *others = parts_of(make(groups=(20, 20, 20), remarks=("One remark.",)))
    assert first.remarks == ("One remark.",)
    assert others
    assert all(not part.remarks and "(continued, part" in part.caption for part in others)


@pytest.mark.parametrize("groups", [(20,), (20, 20)])
def test_remarks_that_fill_a_page_get_one(groups):
    remarks = ("words " * 1000,)
    parts = list(parts_of(make(groups=groups, remarks=remarks)))
    assert [bool(part.remarks) for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1].groups == ()
    assert sum(len(group.rows) for part in parts for group in part.groups) == sum(groups)


def test_entries_that_may_take_several_lines_do_where_they_are_long():
    columns = (Column("claim", "left", wraps=True), Column("measured", "left", wraps=True), Column("answer", "left"))
    row = (Entry("x" * 100), Entry("y" * 130), Entry("supported"))
    long = Table("t", "T", "c", columns, (Group(Entry(""), ("", "", ""), (row,) * 20),))
    assert column_widths(long) == [62, 62, 11]
    parts = list(parts_of(long))
    # Three lines each: at most 15 rows to a part, and no part without the other columns.
    assert [sum(len(group.rows) for group in part.groups) for part in parts] == [8, 12]
    assert all(len(part.columns) == 3 and height(part) <= LINES for part in parts)
