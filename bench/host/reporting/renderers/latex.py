"""Writes tables as LaTeX with booktabs, in a file that compiles by itself and can be ``\\input`` as well."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..tables.table import Column, Entry, Group, Table, mark
from ..words.language import _
from .latex_parts import is_wrapped, parts_of
from .latex_text import escape

#: ``\@nodocument`` is ``\relax`` as soon as a document has begun, so an ``\input`` skips the preamble and the end.
OPENING = r"""% Compiles as it is: pdflatex FILE
% In a paper: \usepackage{booktabs,graphicx} in the preamble and \input{FILE} where the tables belong;
% every table is a float of its own (table*, across the columns of a two-column paper).
\expandafter\ifx\csname @nodocument\endcsname\relax
  \let\tablesend\relax
  \let\tablesbreak\relax
\else
  \documentclass{article}
  \usepackage[a4paper,landscape,margin=15mm]{geometry}
  \usepackage{booktabs,graphicx}
  \def\tablesend{\end{document}}
  \let\tablesbreak\clearpage
  \csname @fptop\endcsname=0pt
  \begin{document}
\fi
"""
CLOSING = "\\tablesend\n"
#: LaTeX keeps at most 52 floats; a file that compiles by itself sets them after so many.
FLOATS, BREAK = 16, "\\tablesbreak\n"

#: Of a column whose entries take several lines: that of ``latex_parts.WRAPPED`` characters.
WRAPPED_WIDTH = "90mm"

#: The tabular is set in a box, and the box is scaled where it is wider than the page.
FLOAT = r"""\begin{table*}[!tp]
\centering\footnotesize
\caption{CAPTION}\label{tab:LABEL}
BODYNOTES\end{table*}
"""
BOX = r"""\medskip
\setlength{\tabcolsep}{4pt}
\setbox0\hbox{%
TABULAR}
\leavevmode\ifdim\wd0>\textwidth\resizebox{\textwidth}{!}{\box0}\else\box0\fi
"""


def superscript(marks: str) -> str:
    return rf"\textsuperscript{{{marks}}}" if marks else ""


def entry(value: Entry, marks: dict[str, str]) -> str:
    return escape(value.text) + superscript(mark(value, marks))


def common_units(table: Table) -> list[str]:
    """Return the unit of each column, empty where groups differ."""
    found = [{group.units[i] for group in table.groups} for i in range(len(table.columns))]
    return [units.pop() if len(units) == 1 else "" for units in found]


def heading(table: Table, group: Group, marks: dict[str, str]) -> str:
    """Write a group's heading across all columns, with the units that are not those of every group."""
    common = common_units(table)
    units = [
        _("{quantity} in {unit}", quantity=column.title, unit=unit)
        for column, unit, everywhere in zip(table.columns, group.units, common, strict=True)
        if unit != everywhere
    ]
    text = rf"\textbf{{{escape(group.heading.text)}}}{superscript(mark(group.heading, marks))}"
    if units:
        text += rf" \textit{{({escape(', '.join(units))})}}"
    return rf"\multicolumn{{{len(table.columns)}}}{{l}}{{{text}}} \\"


def tabular(table: Table, marks: dict[str, str]) -> str:
    """Write the tabular environment, without a float around it."""
    rows = [[entry(value, marks) for value in row] for row in table.rows]
    titles = [title(column, unit) for column, unit in zip(table.columns, common_units(table), strict=True)]
    alignment = "".join(
        f"p{{{WRAPPED_WIDTH}}}" if is_wrapped(table, i) else column.align[0] for i, column in enumerate(table.columns)
    )
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", _line(titles), r"\midrule"]
    body = map(_line, rows)
    for number, group in enumerate(table.groups):
        if group.heading.text:
            lines += ([r"\addlinespace"] if number else []) + [heading(table, group, marks)]
        lines += [next(body) for _ in group.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def title(column: Column, unit: str) -> str:
    """Write the title of a column with its unit; its lines stand below each other."""
    lines = [escape(line) for line in (f"{column.title} ({unit})" if unit else column.title).split("\n")]
    if len(lines) == 1:
        return lines[0]
    stacked = r"\\".join(lines)
    return rf"\shortstack[{column.align[0]}]{{{stacked}}}"


def _line(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def below(table: Table, marks: dict[str, str]) -> str:
    """Write the footnotes and remarks, as wide as the page."""
    notes = [f"{superscript(letter)} {escape(note)}" for note, letter in marks.items()]
    lines = [*map(escape, table.sentences), *notes, *map(escape, table.remarks)]
    if not lines:
        return ""
    text = "\\par\n".join(lines)
    return f"\\par\\medskip\n\\begin{{minipage}}{{\\textwidth}}\\raggedright\n{text}\n\\end{{minipage}}\n"


def render(table: Table) -> str:
    """Write one float."""
    marks = table.marks
    parts = {
        "CAPTION": escape(" ".join(filter(None, (table.banner, table.caption)))),
        "LABEL": re.sub(r"[^A-Za-z0-9-]+", "-", table.name),
        "BODY": BOX.replace("TABULAR", tabular(table, marks)) if table.groups else "",
        "NOTES": below(table, marks),
    }
    return re.sub("|".join(parts), lambda found: parts[found.group()], FLOAT)


def document(tables: Iterable[Table]) -> str:
    """Write tables as one file."""
    floats = [render(part) for table in tables for part in parts_of(table)]
    parts = ["\n".join(floats[first : first + FLOATS]) for first in range(0, len(floats), FLOATS)]
    return "\n".join([OPENING, f"\n{BREAK}".join(parts), CLOSING])
