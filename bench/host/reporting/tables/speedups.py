"""Makes the table that a run ends with: the baseline's time per step, and every other column's speed-up over it.

It fits a terminal of 80 columns and 24 lines, has at most two marks per entry and at most six short notes below it.
Everything else is in the details, one option away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from bench.cell import Cell

from ...analysis.best_modes import BestModes
from ...analysis.speed_ups import ComparedCell
from ...storage.manifest import Manifest
from ...study.baseline import CHOSEN
from ..words import answer
from ..words.answer import EXPLAINED, MARKS, VERDICTS, WITHHELD
from ..words.best_modes import best_per_row
from ..words.comparisons import Naming, clearest_comparisons, every_comparison
from ..words.language import _
from ..words.row_names import usual_conditions
from ..words.terms import status_word
from ..words.text import EMPTY, first_words
from . import screen
from .dispensability import dispensability
from .speedup_values import SpeedUps, mean_digits, mean_name, speed_up_digits, time_digits
from .table import Column, Entry, Table, ungrouped

#: A longer line of a heading is broken.
LONG = 12
#: Notes below the table, and sentences about single comparisons, at most.
LINES = 6


def summarise(
    found: SpeedUps, manifest: Manifest, leaders: Collection[str] = (), best_modes: BestModes | None = None
) -> Table:
    """Make the table of all speed-ups of a run; ``leaders`` and ``best_modes`` are those of the first track."""
    columns = found.columns
    rows = tuple((Entry(row.name), *(_entry(row.cells.get(column), found) for column in columns)) for row in found.rows)
    bare = Table(
        f"{manifest.study.name}-speedups",
        _("Speed-ups"),
        _caption(found),
        (
            Column(_("workload"), "left"),
            *_headings(found),
        ),
        ungrouped([*rows, *_means(found)], len(columns) + 1),
        banner=answer.banner(found.shown_grades, manifest),
    )
    track = found.tracks[0] if found.tracks else None
    best = best_per_row(best_modes, found.labels, track, as_ratios=found.as_ratios)
    return _with_lines(bare, found, manifest, leaders, best)


def _with_lines(
    bare: Table, found: SpeedUps, manifest: Manifest, leaders: Collection[str], best: Sequence[str]
) -> Table:
    """Add what the table shows, in as many sentences as the screen has lines for, and what its marks mean.

    The line about what is ``best`` in every row stands below the fastest on average where the screen has room for it,
    and otherwise in Markdown and on the page alone.
    """
    compared = [cell.result for cell in found.cells() if cell.speed_up is not None and not cell.is_base]
    track = found.tracks[0] if found.tracks else None
    first = [
        *answer.alarm(manifest),
        *answer.fastest(track, len(found.tracks) > 1, found.baseline, found.labels, leaders, as_ratios=found.as_ratios),
    ]
    # Verdicts do not come first where the machine was busy.
    advice = [] if bare.banner else answer.no_verdicts(compared, found.baseline, manifest)
    advice += answer.other_baseline(found.results, found.baseline)
    notes = [
        *answer.part(manifest),
        *answer.legend(found.shown_grades),
        *answer.verdicts(found.results, found.shown_grades),
        *answer.settings(found.explained),
        *answer.slow_kernels(found.results),
        *answer.failures(found.results),
    ]
    first, advice, notes = ([first_words(line) for line in lines] for lines in (first, advice, notes))
    # What names the files, and the prompt, stand below as well.
    left = screen.HEIGHT - screen.height(bare) - sum(map(screen.lines_of, [*first, *advice, *notes])) - 2
    naming = Naming(found.labels, _names(found), found.before, found.as_ratios)
    every = [first_words(line) for line in every_comparison(compared, naming, LINES)]
    clearest = [first_words(line) for line in clearest_comparisons(compared, naming, LINES)]
    needed = screen.lines_of(clearest[0]) if clearest else 0
    its_lines = sum(map(screen.lines_of, best))
    # A table that is longer than the screen is scrolled anyhow.
    scrolled = screen.height(bare) > screen.HEIGHT
    if left >= needed + its_lines or scrolled:
        first, left, best = [*first, *best], left - its_lines, ()
    if clearest and left < needed and not scrolled:
        left, advice = left + sum(map(screen.lines_of, advice)), []
    told = every if every and len(_that_fit(every, left)) == len(every) else _that_fit(clearest, left)
    return replace(bare, sentences=(*first, *told), more=tuple(best), remarks=(*advice, *notes))


def _that_fit(sentences: Sequence[str], lines: int) -> list[str]:
    """Keep the first sentence, and the next ones as long as there are lines for them."""
    kept = list(sentences[:1])
    lines -= sum(map(screen.lines_of, kept))
    for sentence in sentences[1:]:
        lines -= screen.lines_of(sentence)
        if lines >= 0:
            kept.append(sentence)
    return kept


def _names(found: SpeedUps) -> dict[Cell, str]:
    """Name the row of every cell in a sentence: by its workload, where the table has one row of that."""
    counts = Counter(row.any_cell.workload for row in found.rows)
    return {
        cell.result.cell: cell.result.cell.workload if counts[cell.result.cell.workload] == 1 else row.name
        for row in found.rows
        for cell in row.cells.values()
    }


def _headings(found: SpeedUps) -> list[Column]:
    """Head every column; the caption names the framework where all are versions of one."""
    labels, dispensable = found.labels, dispensability(found)
    found_headings = []
    for column in found.columns:
        label = replace(labels[column], product="") if found.product else labels[column]
        text = _narrow(label.heading) + EXPLAINED * (column in found.explained)
        name, release = labels[column].short, labels[column].release
        found_headings.append(Column(text, dispensable=dispensable[column], name=name, group=release))
    return found_headings


def _narrow(heading: str) -> str:
    """Break long words at their hyphens."""
    lines = heading.split("\n")
    return "\n".join(line.replace("-", "-\n") if len(line) > LONG else line for line in lines)


def _caption(found: SpeedUps) -> str:
    said = {"baseline": found.baseline_name, "conditions": usual_conditions(found.results)}
    if found.baseline in CHOSEN and found.product:
        said["framework"] = found.product
        if found.as_ratios:
            return _(
                "{framework}: time per step over that of {baseline}; times where there is none ({conditions})", **said
            )
        return _("{framework}: speed-up over {baseline}; times where there is none ({conditions})", **said)
    if found.baseline in CHOSEN:
        if found.as_ratios:
            return _("Time per step over that of {baseline}; times where there is none ({conditions})", **said)
        return _("Speed-up over {baseline}; times where there is none ({conditions})", **said)
    if len(found.columns) == 1:
        return _("Time per step of {baseline} ({conditions})", **said)
    if found.as_ratios and found.lacks_baseline:
        return _(
            "Time per step of {baseline}, and of all where it has none; ratios, below 1 is faster ({conditions})",
            **said,
        )
    if found.as_ratios:
        return _("Time per step of {baseline}; ratios to it, below 1 is faster ({conditions})", **said)
    if found.lacks_baseline:
        return _("Time per step of {baseline}, and of all where it has none; speed-ups ({conditions})", **said)
    return _("Time per step of {baseline}; speed-ups ({conditions})", **said)


def _entry(cell: ComparedCell | None, found: SpeedUps) -> Entry:
    if cell is None:
        return Entry("")
    if cell.grade is None:
        return Entry(status_word(cell.result.status))
    if cell.withheld:
        return Entry(WITHHELD)
    mark = MARKS[cell.grade]
    if cell.shows_time and cell.time is not None:
        return Entry(f"{' '.join(time_digits(cell.time.value))}{mark}")
    if cell.speed_up is None:
        return Entry(EMPTY)
    return Entry(f"{speed_up_digits(found, cell)}{VERDICTS.get(cell.result.verdict, '')}{mark}")


def _means(found: SpeedUps) -> list[tuple[Entry, ...]]:
    """Make a row of geometric means for each track."""
    return [
        (
            Entry(mean_name(found, track, short=True)),
            *(Entry(mean_digits(found, track, column)) for column in found.columns),
        )
        for track in found.tracks
    ]
