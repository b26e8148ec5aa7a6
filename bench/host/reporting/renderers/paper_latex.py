"""Writes the speed-ups of a run as tabulars for a paper, which loads booktabs and siunitx and has a float for them."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Sequence

from ...analysis.quality import Quality
from ...analysis.speed_ups import ComparedCell
from ...study.baseline import CHOSEN
from ..tables.interest import best_of_versions, dispensability
from ..tables.paper_layout import (
    GAP,
    INDENT,
    LETTERS,
    MOST_LINES,
    PaperColumn,
    PaperTable,
    Shown,
    fit,
    halves,
    headings,
    lines_of,
    table_width,
)
from ..tables.paper_notes import About, caption, notes
from ..tables.speedup_values import ComparedRow, SpeedUps, factor_digits, mean_digits, mean_name, time_digits
from ..words.language import _, decimal_sign
from .latex_text import escape

#: A dagger is wider than nothing: it hangs in the gap, so that a column is as wide as its numbers.
MARKS = {Quality.NOISY: r"$^\dagger$", Quality.UNSTEADY: r"$^\ddagger$"}
#: At the heading of a column whose numbers other settings may explain.
EXPLAINED = r"$^\circ$"
WITHHELD = "--"

#: What a note is about, and its mark.
NOTED = {
    About.NOISY: MARKS[Quality.NOISY],
    About.UNSTEADY: MARKS[Quality.UNSTEADY],
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


def paper_table(found: SpeedUps, chosen: Collection[str]) -> PaperTable:
    """Arrange the speed-ups of the chosen columns as a paper shows them."""
    best = [_best(row) for row in found.rows]
    columns = []
    for column in (column for column in found.columns if column in chosen):
        label = found.labels[column]
        entries = [
            _shown(row.places.get(column), found, column in bold) for row, bold in zip(found.rows, best, strict=True)
        ]
        entries += [Shown(mean_digits(found, track, column)) for track in found.tracks]
        product, version, mode = (_cut(part, LETTERS // 3) for part in (label.product, label.version, label.short_mode))
        mark = EXPLAINED if column in found.explained else ""
        columns.append(PaperColumn(product, version, mode, mark, tuple(entries)))
    names = [row.name for row in found.rows] + [mean_name(found, track) for track in found.tracks]
    return PaperTable(tuple((_cut(name, LETTERS),) for name in names), tuple(columns), len(found.tracks))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _best(row: ComparedRow) -> set[str]:
    """Return the columns that are fastest in a row: the best value, and all whose intervals overlap its interval."""
    known = {column: place.speed_up for column, place in row.places.items() if place.speed_up is not None}
    if len(known) < 2:
        return set()
    best = max(known.values(), key=lambda one: one.value)
    lowest = best.value if best.low is None else best.low
    return {column for column, one in known.items() if (one.value if one.high is None else one.high) >= lowest}


def _shown(place: ComparedCell | None, found: SpeedUps, bold: bool) -> Shown:
    if place is None:
        return Shown("")
    mark = MARKS.get(place.grade, "") if place.grade else ""
    if place.shows_time and place.time is not None:
        return Shown(" ".join(time_digits(place.time.value)), mark, bold)
    if place.speed_up is None:
        return Shown(WITHHELD)
    return Shown(factor_digits(found.shown(place.speed_up.value)), mark, bold)


def _format(column: PaperColumn) -> str:
    """Return how a column is set: numbers with room for the digits of all, aligned at the decimal sign.

    Times have different units, and stand right.
    """
    parts = [entry.text.split(decimal_sign()) for entry in column.entries if _is_number(entry)]
    if not parts:
        return "r"
    whole = max(len(part[0]) for part in parts)
    decimals = max(len(part[1]) if len(part) > 1 else 0 for part in parts)
    return f"S[table-format={whole}{f'.{decimals}' if decimals else ''}]"


def _is_number(entry: Shown) -> bool:
    return entry.text[:1].isdigit() and " " not in entry.text


def _entry(entry: Shown, among_numbers: bool) -> str:
    """Write an entry; among numbers, which siunitx reads, any other text is in braces."""
    if among_numbers and _is_number(entry):
        bold = r"\bfseries " if entry.bold else ""
        return f"{bold}{entry.text.replace(decimal_sign(), '.')}{_hung(entry.mark)}"
    # The blank between a number and its unit is thin and does not break.
    text = escape(entry.text).replace(" ", r"\,") if entry.text != WITHHELD else WITHHELD
    written = (rf"\textbf{{{text}}}" if entry.bold else text) + _hung(entry.mark)
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
        [_entry(entry, form != "r") for entry in column.entries]
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
    parts, whole, wide = _arranged(found)
    # Two tables side by side share the line, with a gap between them.
    widest = sum(map(table_width, parts)) + 2.0 if wide else max(map(table_width, parts))
    column = found.baseline not in CHOSEN
    kind = _("ratio") if found.as_ratios else _("speed-up")
    body = ("%\n\\qquad\n" if wide else "\n\\par\\medskip\n").join(
        tabular(part, with_baseline=column and (wide or not number), kind=kind, place="[t]" * wide)
        for number, part in enumerate(parts)
    )
    size = rf"\ifdim\linewidth<{widest:.1f}em \scriptsize\fi"
    left_out = (
        []
        if whole
        else [_("Of each version the fastest column on average, as far as there is room; details.tex has all.")]
    )
    return (
        f"{WIDE if wide else OPENING}\\begingroup\\footnotesize{size}\n\\setlength{{\\tabcolsep}}{{{GAP / 2}em}}%\n"
        f"\\sisetup{{{OPTIONS},output-decimal-marker={{{decimal_sign()}}}}}%\n{body}\n\\endgroup\n"
        + _comment([rf"\caption{{{escape(caption(found, conditions))}}}"])
        + _comment(f"{NOTED[about]} {escape(text)}".lstrip() for about, text in notes(found))
        + _comment(map(escape, left_out))
    )


def _arranged(found: SpeedUps) -> tuple[list[PaperTable], bool, bool]:
    """Return tables that fit on a page, whether they have all columns, and whether they stand side by side.

    Where all columns are too many, these are the best of each version; where rows are, too, as many of those as leave
    room for two tables beside each other. Rows that two tables cannot hold stay in one, for the author to divide.
    """
    parts = fit(paper_table(found, found.columns))
    if lines_of(parts) <= MOST_LINES:
        return parts, True, False
    order = dispensability(found)
    kept = sorted({found.columns[0], *best_of_versions(found, found.columns)}, key=order.__getitem__)
    some = fit(paper_table(found, kept))
    if lines_of(some) <= MOST_LINES:
        return some, len(kept) == len(found.columns), False
    for count in range(len(kept), 1, -1):
        both = [fit(half) for half in halves(paper_table(found, kept[:count]))]
        if all(len(of) == 1 and lines_of(of) <= MOST_LINES for of in both):
            return [of[0] for of in both], count == len(found.columns), True
    return parts, True, False


def _comment(texts: Iterable[str]) -> str:
    return "".join(
        textwrap.fill(
            text, 110, initial_indent="% ", subsequent_indent="%   ", break_long_words=False, break_on_hyphens=False
        )
        + "\n"
        for text in texts
    )
