"""Prints a table in the terminal, through rich, and leaves out columns where the terminal is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..tables.table import Entry, Group, Table, mark
from ..words.language import _
from ..words.text import printable

SUPERSCRIPT = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
#: Blanks between two columns: a divider and padding; fewer rather than leaving a column out.
GAP, NARROW_GAP = 2, 1


def entry(value: Entry, marks: dict[str, str], style: str = "") -> Text:
    """Write an entry as text that is never read as rich's markup."""
    text = Text(printable(value.text), style=style)
    text.append(mark(value, marks).translate(SUPERSCRIPT), style="dim")
    return text


def layout(table: Table, group: Group, kept: Sequence[int], widths: Sequence[int], gap: int) -> RichTable:
    """Lay out one group with the columns that are ``kept``."""
    marks, titles = table.marks, headings(table, group)
    laid = RichTable(
        box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False, show_edge=False, header_style="dim"
    )
    for i in kept:
        right = table.columns[i].align == "right"
        wraps = table.columns[i].wraps
        laid.add_column(
            titles[i],
            justify="right" if right else "left",
            min_width=None if wraps else widths[i],
            no_wrap=not wraps,
            overflow="fold",
        )
    for row in group.rows:
        laid.add_row(*(entry(row[i], marks, style=_style(row, i)) for i in kept))
    return laid


def _style(row: Sequence[Entry], i: int) -> str:
    if row[i].alarm:
        return "red"
    return "bold" if i == 0 else ""


def headings(table: Table, group: Group) -> list[Text]:
    """Return the columns' titles with their units below them."""
    return [
        Text("\n".join(filter(None, (*map(printable, column.title.split("\n")), printable(unit)))))
        for column, unit in zip(table.columns, group.units, strict=True)
    ]


def column_widths(table: Table) -> list[int]:
    """Return the width of each column over all groups, so that they stand below each other."""
    marks = table.marks
    widths = [0] * len(table.columns)
    for group in table.groups:
        for i, title in enumerate(headings(table, group)):
            cells = [*title.split(), *(entry(row[i], marks) for row in group.rows)]
            widths[i] = max(widths[i], *(cell.cell_len for cell in cells))
    return widths


def fitting(console: Console, table: Table, widths: Sequence[int]) -> tuple[list[int], int]:
    """Choose the columns that fit into the console, the most dispensable left out first, and their gap."""
    kept = list(range(len(table.columns)))
    dispensable = sorted((i for i in kept if table.columns[i].dispensable), key=lambda i: -table.columns[i].dispensable)
    gap = GAP if sum(widths[column] + GAP for column in kept) <= console.width else NARROW_GAP
    for i in dispensable:
        if sum(widths[column] + gap for column in kept) <= console.width:
            break
        kept.remove(i)
    return kept, gap


def render(console: Console, table: Table) -> None:
    """Print a table with its caption, footnotes and remarks."""
    if table.banner:
        console.print(Text(printable(table.banner), style="bold red"))
    console.print(Text(printable(table.caption), style="italic"))
    marks, missing = table.marks, []
    if table.groups:
        widths = column_widths(table)
        kept, gap = fitting(console, table, widths)
        left_out = [printable(column.title) for i, column in enumerate(table.columns) if i not in kept]
        if left_out:
            missing = [_("Too narrow for: {columns}; the files have all columns.", columns=", ".join(left_out))]
        for group in table.groups:
            if group.heading.text:
                console.print()
                console.print(entry(group.heading, marks, style="bold cyan"))
            console.print(layout(table, group, kept, widths, gap))
    console.print()
    for note, letter in marks.items():
        console.print(Text.assemble((letter.translate(SUPERSCRIPT), "dim"), " ", printable(note)))
    for remark in (*table.remarks, *missing):
        console.print(Text(printable(remark), style="dim"))
