"""Writes the speed-ups of a run as tabulars for a paper, which loads booktabs and siunitx and has a float for them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from ...analysis.quality import Quality
from ...statistics.verdict import Verdict
from ...study.baseline import CHOSEN
from ..tables.paper_layout import GAP, INDENT, PaperColumn, PaperTable, Shown, headings, is_number, table_width
from ..tables.paper_notes import About, caption, notes
from ..tables.speedup_values import SpeedUps
from ..words.language import _, decimal_sign
from ..words.terms import enumerate_names
from .latex_text import escape
from .paper_arrangement import EXPLAINED, GRADES, VERDICTS, WITHHELD, arrange, raised

#: What a note is about, and its mark.
NOTED = {
    About.DIFFERENT: raised(VERDICTS[Verdict.DIFFERENT]),
    About.EQUIVALENT: raised(VERDICTS[Verdict.EQUIVALENT]),
    About.NOISY: raised(GRADES[Quality.NOISY]),
    About.UNSTEADY: raised(GRADES[Quality.UNSTEADY]),
    About.SETTINGS: EXPLAINED,
    About.MISSING: "",
}

OPENING = r"""% In a paper: \usepackage{booktabs,siunitx} in the preamble, and in a table: \centering \input{FILE}
% It fits one column of the IEEE, ACM and SBC styles and of article.
"""
#: The same where rows are too many for a column.
WIDE = r"""% In a paper: \usepackage{booktabs,siunitx} in the preamble, and in a table*: \centering \input{FILE}
% It is as wide as both columns of the IEEE and ACM styles, and as the text of SBC's: the rows stand in two tables.
"""
#: These names of siunitx's options are understood by its versions 2 and 3.
OPTIONS = (
    "detect-weight,mode=text,group-minimum-digits=9,table-number-alignment=right,table-text-alignment=right,"
    "table-align-text-post=false"
)


def _format(column: PaperColumn) -> str:
    """Return how a column is set: numbers with room for the digits of all, aligned at the decimal sign.

    Times have different units, and stand right.
    """
    parts = [entry.text.split(decimal_sign()) for entry in column.entries if is_number(entry)]
    gap = rf"!{{\hspace{{{column.more_gap}em}}}}" if column.more_gap else ""
    if not parts:
        return f"r{gap}"
    whole = max(len(part[0]) for part in parts)
    decimals = max(len(part[1]) if len(part) > 1 else 0 for part in parts)
    return f"S[table-format={whole}{f'.{decimals}' if decimals else ''}]{gap}"


def _entry(entry: Shown, among_numbers: bool) -> str:
    """Write an entry; among numbers, which siunitx reads, any other text is in braces."""
    if among_numbers and is_number(entry):
        bold = r"\bfseries " if entry.bold else ""
        return f"{bold}{entry.text.replace(decimal_sign(), '.')}{_hung(raised(*entry.signs))}"
    # The blank between a number and its unit is thin and does not break.
    text = escape(entry.text).replace(" ", r"\,") if entry.text != WITHHELD else WITHHELD
    written = (rf"\textbf{{{text}}}" if entry.bold else text) + _hung(raised(*entry.signs))
    return f"{{{written}}}" if among_numbers and written else written


def _hung(mark: str) -> str:
    return rf"\rlap{{{mark}}}" if mark else ""


def _heading_rows(table: PaperTable, with_baseline: bool, kind: str) -> list[str]:
    """Write framework and version over modes, and below them what the numbers are."""
    grouped = headings(table.columns)
    height = max((len(group.lines) for group in grouped), default=1)
    above = [
        _row(
            "",
            [_across(group.count, escape(line)) for group in grouped for line in _lifted(group.lines, height)[level]],
        )
        for level in range(height)
    ]
    rules = "".join(rf"\cmidrule(lr){{{group.first + 2}-{group.first + group.count + 1}}}" for group in grouped)
    modes = _row("", [_across(1, f"{escape(column.mode)}{_hung(column.mark)}") for column in table.columns])
    others = len(table.columns) - with_baseline
    kinds = [_across(1, rf"\textit{{{escape(_('time'))}}}")] * with_baseline
    kinds += [_across(others, rf"\textit{{{escape(kind)}}}")] * bool(others)
    return [*above, rules, modes, _row("", kinds)]


def _lifted(lines: Sequence[str], height: int) -> list[list[str]]:
    """Let lines stand at the bottom of ``height`` lines."""
    return [[line] for line in [""] * (height - len(lines)) + list(lines)]


def _across(count: int, text: str) -> str:
    return rf"\multicolumn{{{count}}}{{c}}{{{text}}}"


def _row(name: str, cells: Sequence[str]) -> str:
    return " & ".join([name, *cells]) + r" \\"


def _body_rows(name: Sequence[str], entries: Sequence[str]) -> list[str]:
    """Write a row; the lines of a broken name stand below each other, the numbers beside the last."""
    lines = [escape(name[0]), *(rf"\hspace{{{INDENT}em}}{escape(line)}" for line in name[1:])]
    return [*(rf"{line} \\" for line in lines[:-1]), _row(lines[-1], entries)]


def tabular(table: PaperTable, *, with_baseline: bool, kind: str, place: str = "") -> str:
    """Write one tabular of ``kind``; its first column is the baseline where ``with_baseline``.

    ``place`` is LaTeX's option that aligns it with another one beside it.
    """
    formats = ["r" if with_baseline and not number else _format(column) for number, column in enumerate(table.columns)]
    columns = [
        [_entry(entry, form.startswith("S")) for entry in column.entries]
        for column, form in zip(table.columns, formats, strict=True)
    ]
    rows = [_body_rows(name, entries) for name, *entries in zip(table.names, *columns, strict=True)]
    if table.means:
        rows.insert(-table.means, [r"\midrule"])
    lines = [
        rf"\begin{{tabular}}{place}{{@{{}}l{''.join(formats)}@{{\hspace{{0.5em}}}}}}",
        r"\toprule",
        *_heading_rows(table, with_baseline, kind),
        r"\midrule",
        *(line for row in rows for line in row),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def render(found: SpeedUps, conditions: str) -> str:
    """Write the tabulars, and as comments a caption and the notes; ``conditions`` say how they were measured."""
    parts, without, wide = arrange(found)
    # Two tables side by side share the line, with a gap between them.
    widest = sum(map(table_width, parts)) + 2.0 if wide else max(map(table_width, parts))
    column = found.baseline not in CHOSEN
    kind = _("ratio") if found.as_ratios else _("speed-up")
    body = ("%\n\\qquad\n" if wide else "\n\\par\\medskip\n").join(
        tabular(part, with_baseline=column and (wide or not number), kind=kind, place="[t]" * wide)
        for number, part in enumerate(parts)
    )
    size = rf"\ifdim\linewidth<{widest:.1f}em \scriptsize\fi"
    names = enumerate_names([found.labels[column].short for column in without])
    left_out = [_("No room for {columns}; details.tex has all.", columns=names)] if without else []
    return (
        f"{WIDE if wide else OPENING}\\begingroup\\footnotesize{size}\n\\setlength{{\\tabcolsep}}{{{GAP / 2}em}}%\n"
        f"\\sisetup{{{OPTIONS},output-decimal-marker={{{decimal_sign()}}}}}%\n{body}\n\\endgroup\n"
        + _comment([rf"\caption{{{escape(caption(found, conditions, whole=not without))}}}"])
        + _comment(f"{NOTED[about]} {escape(text)}".lstrip() for about, text in notes(found))
        + _comment(map(escape, left_out))
    )


def _comment(texts: Iterable[str]) -> str:
    return "".join(
        textwrap.fill(
            text, 110, initial_indent="% ", subsequent_indent="%   ", break_long_words=False, break_on_hyphens=False
        )
        + "\n"
        for text in texts
    )
