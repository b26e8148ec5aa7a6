"""Arranges the speed-ups of a run as the tables of a paper, so that they fit on a page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...analysis.best_of_row import best_of_row
from ...analysis.quality import Quality
from ...analysis.speed_ups import ComparedCell
from ...statistics.verdict import Verdict
from ...study.baseline import PREVIOUS
from ..tables.dispensability import best_of_versions, dispensability
from ..tables.paper_layout import LETTERS, MOST_LINES, PaperColumn, PaperTable, Shown, fit, halves, lines_of
from ..tables.speedup_values import SpeedUps, mean_digits, mean_name, speed_up_digits, time_digits

#: Signs in a formula: of a grade, and of a verdict, as in the table that a run ends with.
GRADES = {Quality.NOISY: r"\dagger", Quality.UNSTEADY: r"\ddagger"}
VERDICTS: Mapping[Verdict | None, str] = {Verdict.DIFFERENT: "*", Verdict.EQUIVALENT: r"\approx"}
WITHHELD = "--"


def raised(*signs: str) -> str:
    """Write signs as one mark, empty without any."""
    text = "".join(signs)
    return "" if not signs else f"$^{text}$" if len(signs) == 1 else f"$^{{{text}}}$"


#: At the heading of a column whose numbers other settings may explain.
EXPLAINED = raised(r"\circ")


def arrange(found: SpeedUps) -> tuple[list[PaperTable], list[str], bool]:
    """Return tables that fit on a page, the columns that they leave out, and whether they stand side by side.

    Where all columns are too many, these are the best of each version; where rows are, too, as many of those as leave
    room for two tables beside each other. Rows that two tables cannot hold stay in one, for the author to divide.
    """
    # Each version has another baseline there: the greatest number is the largest step, and not the fastest version.
    best = [set[str]() if found.baseline == PREVIOUS else best_of_row(row.cells) for row in found.rows]
    parts = fit(_paper_table(found, found.columns, best))
    if lines_of(parts) <= MOST_LINES:
        return parts, [], False
    order = dispensability(found)
    kept = sorted({found.columns[0], *best_of_versions(found, found.columns)}, key=order.__getitem__)
    if len(kept) == 1:
        # With a single version, its modes are what is compared.
        kept = sorted(found.columns, key=order.__getitem__)
    some = fit(_paper_table(found, kept, best))
    if lines_of(some) <= MOST_LINES:
        return some, _without(found, kept), False
    for count in range(len(kept), 1, -1):
        both = [fit(half) for half in halves(_paper_table(found, kept[:count], best))]
        if all(len(of) == 1 and lines_of(of) <= MOST_LINES for of in both):
            return [of[0] for of in both], _without(found, kept[:count]), True
    return parts, [], False


def _without(found: SpeedUps, kept: Collection[str]) -> list[str]:
    return [column for column in found.columns if column not in kept]


def _paper_table(found: SpeedUps, chosen: Collection[str], best: Sequence[Collection[str]]) -> PaperTable:
    """Arrange the speed-ups of the chosen columns as a paper shows them; ``best`` are the columns to stress in rows."""
    columns = []
    for column in (column for column in found.columns if column in chosen):
        label = found.labels[column]
        entries = [
            _shown(row.cells.get(column), found, column in bold) for row, bold in zip(found.rows, best, strict=True)
        ]
        entries += [Shown(mean_digits(found, track, column)) for track in found.tracks]
        product, version, mode = (_cut(part, LETTERS // 3) for part in (label.product, label.version, label.short_mode))
        mark = EXPLAINED if column in found.explained else ""
        columns.append(PaperColumn(product, version, mode, mark, tuple(entries)))
    names = [row.name for row in found.rows] + [mean_name(found, track) for track in found.tracks]
    return PaperTable(tuple((_cut(name, LETTERS),) for name in names), tuple(columns), len(found.tracks))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _shown(cell: ComparedCell | None, found: SpeedUps, bold: bool) -> Shown:
    if cell is None:
        return Shown("")
    grade = (GRADES[cell.grade],) if cell.grade in GRADES else ()
    if cell.shows_time and cell.time is not None:
        return Shown(" ".join(time_digits(cell.time.value)), grade, bold)
    if cell.speed_up is None:
        return Shown(WITHHELD)
    verdict = (VERDICTS[cell.result.verdict],) if cell.result.verdict in VERDICTS else ()
    return Shown(speed_up_digits(found, cell), (*verdict, *grade), bold)
