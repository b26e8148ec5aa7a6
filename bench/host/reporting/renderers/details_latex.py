r"""Writes every cell of a run as a table over several pages, for the appendix of a paper.

It needs longtable, booktabs and siunitx. A paper of two columns is set in one around it, as longtable demands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...analysis.quality import Quality
from ...analysis.speed_ups import ComparedCell
from ...statistics.bootstrap import LEVEL
from ..tables.paper_layout import width
from ..tables.speedup_values import ComparedRow, SpeedUps
from ..words.language import _, decimal_sign, translated, word
from ..words.numbers import COUNTS, MIB, TIMES, Unit, choose_unit, fixed, format_number, format_value, percent
from ..words.terms import items_word, status_word
from ..words.text import EMPTY
from .latex_text import escape

OPENING = r"""% In a paper: \usepackage{longtable,booktabs,siunitx} in the preamble, and \input{FILE} in the appendix.
% In a paper of two columns the table has pages of its own.
\begingroup
\expandafter\ifx\csname if@twocolumn\endcsname\iftrue
  \onecolumn\def\detailsend{\endgroup\twocolumn}%
\else
  \def\detailsend{\endgroup}%
\fi
\scriptsize\setlength{\tabcolsep}{3pt}\setlength{\LTcapwidth}{\linewidth}%
% Where the text is narrow, as in LaTeX's own article, the table may reach into both margins.
\ifdim\linewidth<400pt \setlength{\LTleft}{0pt plus 1fill minus 54pt}\setlength{\LTright}{\LTleft}\fi
\sisetup{output-decimal-marker={SIGN},group-minimum-digits=9}%
"""
CLOSING = "\\end{longtable}\n\\detailsend\n"
#: Room for the names of columns and rows, and for a status, in em.
NAME, ROW, STATUS = 14.0, 22.0, 8.0

GRADES = {
    Quality.CLEAN: word("clean"),
    Quality.NOISY: word("noisy"),
    Quality.UNSTEADY: word("unsteady"),
    Quality.DISTURBED: word("disturbed"),
}


@dataclass(frozen=True)
class Units:
    """The units of the cells of one row."""

    time: Unit
    count: Unit
    item: str


@dataclass(frozen=True)
class Field:
    """A column of numbers."""

    title: str
    #: Returns a number, or the sign for none.
    write: Callable[[ComparedCell, Units], str]


def fields() -> tuple[Field, ...]:
    """Return the columns of numbers; the unit of times and of items is that of the row."""
    return (
        Field(_("time"), lambda cell, units: format_value(cell.time, units.time.size)),
        Field(_("low"), lambda cell, units: _bound(cell, units, "low")),
        Field(_("high"), lambda cell, units: _bound(cell, units, "high")),
        Field(_("CPU time"), lambda cell, units: _scaled(cell.result.cpu_s if cell.time else None, units.time.size)),
        Field(_("throughput"), _throughput),
        Field(
            _("first call (s)"),
            lambda cell, _units: _scaled(cell.result.first_call_s("cold") if cell.time else None, 1.0),
        ),
        Field(_("memory (MiB)"), lambda cell, _units: _scaled(cell.result.peak_bytes, MIB)),
    )


def _bound(cell: ComparedCell, units: Units, end: str) -> str:
    """Write an end of the interval to the digits of the value."""
    bound = getattr(cell.time, end, None)
    if bound is None:
        return EMPTY
    digits = len(format_value(cell.time, units.time.size).partition(decimal_sign())[2])
    return fixed(bound / units.time.size, digits)


def _scaled(value: float | None, size: float) -> str:
    return format_number(None if value is None else value / size)


def _throughput(cell: ComparedCell, units: Units) -> str:
    return format_value(cell.result.throughput if cell.time else None, units.count.size)


def caption(found: SpeedUps, conditions: str) -> str:
    """Say what the columns are; ``conditions`` say how the cells were measured."""
    parts = [
        _("All cells: median time of a step, the {level} interval of it", level=percent(LEVEL))
        if any(cell.time and cell.time.n > 1 for cell in found.cells())
        else _("All cells: median time of a step"),
        _("processor time of a step over all threads"),
        _("first call with a cold cache"),
        _("peak memory without the import"),
    ]
    withheld = _("A dash: not measured, or withheld as other programs used the processors.")
    grade = _("The status tells the quality of the speed-up, or of the baseline's time.")
    return f"{', '.join(parts)} ({found.conditions}). {grade} {withheld} {conditions}"


def render(found: SpeedUps, conditions: str) -> str:
    """Write the table."""
    columns = fields()
    rows = [(row, _units(row)) for row in found.rows]
    written = [[_numbers(cell, columns, units) for cell in _cells(row, found)] for row, units in rows]
    formats = [
        _format([numbers[i] for block in written for numbers in block if numbers[i] != EMPTY])
        for i in range(len(columns))
    ]
    lines = [
        OPENING.replace("SIGN", decimal_sign()) + rf"\begin{{longtable}}{{@{{}}l{''.join(formats)}l@{{}}}}",
        *_head(columns, caption(found, conditions)),
    ]
    for number, ((row, units), block) in enumerate(zip(rows, written, strict=True)):
        lines += ([r"\addlinespace"] if number else []) + [_row_heading(row, units, len(columns) + 2)]
        for cell, numbers in zip(_cells(row, found), block, strict=True):
            texts = [_unbroken(found.labels[cell.result.cell.column].text, NAME), *map(_number, numbers)]
            lines.append(" & ".join([*texts, _unbroken(_state(cell), STATUS)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", CLOSING])


def _cells(row: ComparedRow, found: SpeedUps) -> list[ComparedCell]:
    return [row.cells[column] for column in found.columns if column in row.cells]


def _units(row: ComparedRow) -> Units:
    results = [cell.result for cell in row.cells.values() if cell.time]
    time = choose_unit([result.step.value for result in results if result.step], TIMES)
    count = choose_unit([result.throughput.value for result in results if result.throughput], COUNTS)
    return Units(time, count, next((str(r.work["item"]) for r in results if r.work.get("item")), ""))


def _numbers(cell: ComparedCell, columns: Sequence[Field], units: Units) -> list[str]:
    return [column.write(cell, units).replace(decimal_sign(), ".") for column in columns]


def _number(text: str) -> str:
    return "{--}" if text == EMPTY else text


def _format(numbers: Sequence[str]) -> str:
    """Return a column that has room for the digits of all numbers, aligned at the decimal sign."""
    whole, part = (max((len(number.partition(".")[i]) for number in numbers), default=1) for i in (0, 2))
    return f"S[table-format={max(1, whole)}.{part}]"


def _head(columns: Sequence[Field], text: str) -> Iterator[str]:
    """Write the caption and the heading, which every page repeats."""
    titles = [rf"{{{escape(column.title)}}}" for column in columns]
    above = [r"\toprule", " & ".join(["", *titles, escape(_("status"))]) + r" \\", r"\midrule"]
    yield rf"\caption{{{escape(text)}}}\label{{tab:details}}\\"
    yield from [*above, r"\endfirsthead"]
    yield from [*above, r"\endhead", r"\bottomrule", r"\endfoot", r"\endlastfoot"]


def _row_heading(row: ComparedRow, units: Units, count: int) -> str:
    said = [_("times in {unit}", unit=units.time.name)] if units.time.name else []
    if units.item:
        per_second = f"{units.count.name} {items_word(units.item)}/s".strip()
        said.append(_("throughput in {unit}", unit=per_second))
    text = rf"\textbf{{{_unbroken(row.name, ROW)}}}"
    if said:
        text += rf" \textit{{({_unbroken(', '.join(said), ROW)})}}"
    return rf"\multicolumn{{{count}}}{{@{{}}l@{{}}}}{{{text}}} \\*"


def _state(cell: ComparedCell) -> str:
    """Name the grade of a time, or what became of a cell that has none."""
    return status_word(cell.result.status) if cell.grade is None else translated(GRADES[cell.grade])


def _unbroken(text: str, room: float) -> str:
    """Write a text that is no wider than its room, which holds so many em."""
    if width(text) > room:
        while width(text) > room - 1.0:
            text = text[:-1]
        text += "…"
    return escape(text)
