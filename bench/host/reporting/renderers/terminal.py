"""Prints lines and tables in the terminal, through rich; a narrow one gets fewer columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ...project import as_called
from ..tables import screen
from ..tables.table import Entry, Group, Table, mark
from ..words.text import printable

SUPERSCRIPT = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


def say(console: Console, text: str) -> None:
    """Print a line of text: nothing in it is markup, no line is broken, and nox is called as the person called it."""
    console.print(as_called(text), highlight=False, markup=False, soft_wrap=True)


def entry(value: Entry, marks: dict[str, str], style: str = "") -> Text:
    """Write an entry as text that is never read as rich's markup."""
    text = Text(printable(value.text), style=style)
    text.append(mark(value, marks).translate(SUPERSCRIPT), style="dim")
    return text


def layout(table: Table, group: Group, kept: Sequence[int], widths: Sequence[int], gap: int) -> RichTable:
    """Lay out one group with the columns that are ``kept``."""
    marks, titles = table.marks, screen.headings(table, group)
    laid = RichTable(
        box=box.SIMPLE_HEAD, padding=(0, gap - 1, 0, 0), pad_edge=False, show_edge=False, header_style="dim"
    )
    for i in kept:
        right = table.columns[i].align == "right"
        wraps = table.columns[i].wraps
        laid.add_column(
            Text(titles[i]),
            justify="right" if right else "left",
            min_width=None if wraps else widths[i],
            no_wrap=not wraps,
            overflow="fold",
        )
    for row in group.rows:
        *lines, last = screen.name_lines(row[0].text, widths[0])
        for line in lines:
            laid.add_row(Text(line, style=_style(row, 0)))
        name = Text(last, style=_style(row, 0)).append(mark(row[0], marks).translate(SUPERSCRIPT), style="dim")
        laid.add_row(*(entry(row[i], marks, style=_style(row, i)) if i else name for i in kept))
    return laid


def _style(row: Sequence[Entry], i: int) -> str:
    if row[i].alarm:
        return "red"
    return "bold" if i == 0 else ""


def render(console: Console, table: Table, file: str = screen.FILE) -> None:
    """Print a table with its caption, footnotes and remarks; ``file``, if any, has the columns that do not fit."""
    if table.banner:
        console.print(Text(printable(table.banner), style="bold red"))
    console.print(Text(printable(table.caption), style="italic"))
    marks, missing = table.marks, list[str]()
    if table.groups:
        kept, gap, widths = screen.fitted(table, console.width)
        missing = [text] if (text := screen.left_out(table, kept, file)) else []
        for group in table.groups:
            if group.heading.text:
                console.print()
                console.print(entry(group.heading, marks, style="bold cyan"))
            console.print(layout(table, group, kept, widths, gap))
    console.print()
    for sentence in table.sentences:
        console.print(Text(printable(sentence)))
    for note, letter in marks.items():
        console.print(Text.assemble((letter.translate(SUPERSCRIPT), "dim"), " ", printable(note)))
    for remark in (*table.remarks, *missing):
        console.print(Text(printable(remark), style="dim"))
