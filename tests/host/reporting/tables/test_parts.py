"""Tests how a table that is too wide for a page is divided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.host.reporting.renderers import markdown
from bench.host.reporting.tables.parts import MOST, in_parts
from bench.host.reporting.tables.table import Column, Entry, Group, Table


def wide(modes: int, *, ranked: bool = True, empty: tuple[str, ...] = ()) -> Table:
    """Make a table with two versions, each in ``modes`` modes; the second mode says most, ``empty`` rows nothing."""
    columns = [Column("workload", "left")]
    for version in ("A 1", "A 2"):
        for mode in range(modes):
            place = len(columns) - 1 if mode != 1 else (0 if version == "A 1" else 1)
            columns.append(Column(f"{version} m{mode}", dispensable=(place + 1) * ranked, group=version))
    if ranked:
        columns[1] = Column("A 1 m0", dispensable=0, group="A 1")

    def row(name: str) -> tuple[Entry, ...]:
        return (
            Entry(name),
            *(Entry("" if name in empty and c.group == "A 2" else f"{name} {c.title}") for c in columns[1:]),
        )

    rows = tuple(row(name) for name in ("gemm", "conv"))
    return Table(
        "t", "Title", "Caption", tuple(columns), (Group(Entry(""), ("",) * len(columns), rows),), sentences=("Said.",)
    )


def titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def test_a_table_that_fits_stays_whole():
    table = wide(MOST // 2)
    assert in_parts(table) == [("", table)]


def test_a_wide_table_begins_with_the_base_and_the_best_of_each_version_and_then_has_every_column():
    (first, best), *others = in_parts(wide(MOST // 2 + 1))
    assert first == ""
    assert titles(best) == ["workload", "A 1 m0", "A 2 m1"]
    assert [heading for heading, _part in others] == ["A 1", "A 2"]
    assert [titles(part) for _heading, part in others] == [
        ["workload", *(f"A 1 m{i}" for i in range(6))],
        ["workload", "A 1 m0", *(f"A 2 m{i}" for i in range(6))],
    ]


def test_without_an_order_of_columns_there_are_only_the_versions():
    parts = in_parts(wide(6, ranked=False))
    assert [heading for heading, _part in parts] == ["A 1", "A 2"]
    assert sum(len(part.columns) - 1 for _heading, part in parts) == 12


def test_many_versions_of_one_mode_share_parts():
    columns = (Column("workload", "left"), *(Column(f"A {i}", dispensable=i, group=f"A {i}") for i in range(12)))
    row = (Entry("gemm"), *(Entry(str(i)) for i in range(12)))
    table = Table("t", "Title", "", columns, (Group(Entry(""), ("",) * 13, (row,)),))
    (_whole, best), *others = in_parts(table)
    assert len(best.columns) == 1 + MOST
    assert [heading for heading, _part in others] == ["A 0 – A 9", "A 10 – A 11"]
    assert titles(others[1][1]) == ["workload", "A 0", "A 10", "A 11"]


def test_a_version_that_shows_nothing_has_no_part_and_a_dash_shows_something():
    assert [heading for heading, _part in in_parts(wide(6, empty=("gemm", "conv")))] == ["", "A 1"]
    table = wide(6)
    (group,) = table.groups
    dashes = tuple((*row[:7], *(Entry("–") for _entry in row[7:])) for row in group.rows)
    parts = in_parts(replace(table, groups=(replace(group, rows=dashes),)))
    assert [row[0].text for row in parts[-1][1].groups[0].rows] == ["gemm", "conv"]


def test_footnotes_stand_below_their_part_with_marks_of_their_own():
    table = wide(6, ranked=False)
    (group,) = table.groups
    noted = [
        (*row[:1], *(replace(entry, notes=(f"of {entry.text[:8]}",)) for entry in row[1:])) for row in group.rows[:1]
    ]
    text = markdown.render(replace(table, groups=(replace(group, rows=tuple(noted)),)))
    first, second = text[text.index("### A 1") :].split("### A 2")
    assert "<sup>a</sup> of gemm A 1" in first
    assert "<sup>a</sup> of gemm A 2" in second
    assert "<sup>b</sup>" not in text


def test_a_part_leaves_out_rows_in_which_it_shows_nothing_and_no_other():
    _best, (_one, first), (_two, second) = in_parts(wide(6, empty=("conv",)))
    assert [row[0].text for row in first.groups[0].rows] == ["gemm", "conv"]
    assert [row[0].text for row in second.groups[0].rows] == ["gemm"]


@pytest.mark.parametrize("ranked", [True, False])
def test_what_is_said_of_a_table_stands_above_its_versions(ranked):
    text = markdown.render(wide(6, ranked=ranked))
    assert text.index("Said.") < text.index("### A 1")
    assert text.index("Said.") < text.index("gemm")
    for title in {column.title for column in wide(6).columns}:
        assert title in text
