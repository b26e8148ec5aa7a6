"""Prints lines and tables in the terminal, through rich; a narrow one gets fewer columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table as RichTable
from rich.text import Text

from ...project import as_called
from ...refusal import visible
from ..tables import screen
from ..tables.table import Entry, Group, Table, mark
from ..words.text import printable

#: Words of the last line of a text at least, where it is broken.
LAST_WORDS = 3
#: Stands between the parts of a line that name several things.
APART = "   "
SUPERSCRIPT = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")


def say(console: Console, text: str) -> None:
    """Print a line of text: nothing in it is markup, no line is broken, and nox is called as the person called it."""
    console.print(as_called(text), highlight=False, markup=False, soft_wrap=True)


def say_apart(console: Console, parts: Sequence[str]) -> None:
    """Print parts of a line; a narrow terminal breaks it between them, and no part, so that a path stays whole.

    In a file or a pipe it is one line.
    """
    room = console.width if console.is_terminal else None
    lines = list(parts[-1:])
    # From the end, where the parts are short: none of them stands alone there.
    for part in reversed(parts[:-1]):
        longer = f"{part}{APART}{lines[0]}"
        lines[:1] = [longer] if room is None or cell_len(longer) <= room else [part, lines[0]]
    for line in lines:
        say(console, visible(line))


def show(console: Console, shown: RenderableType) -> None:
    """Print what rich lays out, no line with blanks at its end."""
    segments: list[Segment] = []
    for line in console.render_lines(shown, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            line[-1] = line[-1]._replace(text=line[-1].text.rstrip())
        segments += [*line, Segment.line()]
    console.print(Segments(segments), end="")


def prose(console: Console, text: Text) -> None:
    """Print a text in as few lines as it takes, where possible with more than a word or two in the last one."""
    lines = text.wrap(console, console.width)
    for room in range(console.width - 1, 0, -1):
        if len(lines) < 2 or len(lines[-1].plain.split()) >= LAST_WORDS:
            break
        narrower = text.wrap(console, room)
        if len(narrower) > len(lines):
            break
        lines = narrower
    for line in lines:
        show(console, line)


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
        prose(console, Text(printable(table.banner), style="bold red"))
    prose(console, Text(printable(table.caption), style="italic"))
    marks, missing = table.marks, list[str]()
    if table.groups:
        kept, gap, widths = screen.fitted(table, console.width)
        missing = [text] if (text := screen.left_out(table, kept, file)) else []
        for group in table.groups:
            if group.heading.text:
                console.print()
                prose(console, entry(group.heading, marks, style="bold cyan"))
            show(console, layout(table, group, kept, widths, gap))
    console.print()
    for sentence in table.sentences:
        prose(console, Text(printable(sentence)))
    for note, letter in marks.items():
        prose(console, Text.assemble((letter.translate(SUPERSCRIPT), "dim"), " ", printable(note)))
    for remark in (*table.remarks, *missing):
        prose(console, Text(printable(remark), style="dim"))
