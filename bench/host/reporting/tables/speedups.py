"""Makes the table that a run ends with: the baseline's time per step, and every other column's speed-up over it.

It fits a terminal of 80 columns and 24 lines, has at most two marks per entry and at most six short lines below it.
Everything else is in the details, one option away.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ...analysis.speed_ups import ComparedCell
from ...storage.manifest import Manifest
from ...study.baseline import CHOSEN
from ..words import answer
from ..words.answer import EXPLAINED, MARKS, VERDICTS, WITHHELD
from ..words.language import _
from ..words.row_names import usual_conditions
from ..words.terms import status_word
from ..words.text import EMPTY, first_words
from .speedup_values import SpeedUps, factor_digits, mean_digits, mean_name, time_digits
from .table import Column, Entry, Group, Table

#: A longer line of a heading is broken.
LONG = 12
#: Lines below the table, and words of a line, at most.
LINES, WORDS = 6, 20


def summarise(found: SpeedUps, manifest: Manifest, leaders: Collection[str] = ()) -> Table:
    """Make the table of all speed-ups of a run; ``leaders`` may be the fastest of the first track."""
    columns = found.columns
    rows = tuple(
        (Entry(row.name), *(_entry(row.places.get(column), found) for column in columns)) for row in found.rows
    )
    return Table(
        f"{manifest.study.name}-speedups",
        _("Speed-ups"),
        _caption(found),
        (
            Column(_("workload"), "left"),
            *_headings(found),
        ),
        (Group(Entry(""), ("",) * (len(columns) + 1), (*rows, *_means(found))),),
        tuple(_lines(found, manifest, leaders)),
        banner=answer.banner(found.grades),
    )


def _lines(found: SpeedUps, manifest: Manifest, leaders: Collection[str]) -> list[str]:
    """Return the lines below the table; those that explain marks are never left out."""
    baseline, labels, grades = found.baseline, found.labels, found.grades
    names = {place.result.cell: row.name for row in found.rows for place in row.places.values()}
    compared = [place.result for place in found.places() if place.speed_up is not None and not place.is_base]
    track = found.tracks[0] if found.tracks else None
    needed = {
        "alarm": answer.alarm(manifest),
        "legend": answer.legend(grades),
        "verdicts": answer.verdicts(found.results, grades),
        "settings": answer.settings(found.explained),
    }
    # Verdicts do not come first where the machine was busy.
    busy = answer.banner(grades)
    advice = [] if busy else answer.no_verdicts(compared, baseline, manifest.profile.rounds or 0)
    #: The most useful first.
    others = {
        "failures": answer.failures(found.results),
        "clearest": answer.clearest(compared, labels, names, found.before),
        "fastest": answer.fastest(track, len(found.tracks) > 1, baseline, labels, leaders),
        "no verdicts": advice,
    }
    room = LINES - sum(map(len, needed.values())) - bool(busy)
    for name, lines in others.items():
        needed[name] = lines[: max(0, room)]
        room -= len(needed[name])
    order = ("alarm", "fastest", "clearest", "no verdicts", "legend", "verdicts", "settings", "failures")
    return [first_words(line, WORDS) for name in order for line in needed[name]]


def _headings(found: SpeedUps) -> list[Column]:
    """Head every column; the caption names the framework where all are versions of one."""
    columns, labels = found.columns, found.labels
    found_headings = []
    for number, column in enumerate(columns):
        label = replace(labels[column], product="") if found.product else labels[column]
        # A narrow terminal leaves out the last columns; of versions, the older ones after the baseline.
        dispensable = len(columns) - number if found.product and number else number
        text = _narrow(label.heading) + EXPLAINED * (column in found.explained)
        found_headings.append(Column(text, dispensable=dispensable))
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
    if found.as_ratios:
        return _("Time per step of {baseline}; ratios to it, below 1 is faster ({conditions})", **said)
    return _("Time per step of {baseline}; speed-ups ({conditions})", **said)


def _entry(place: ComparedCell | None, found: SpeedUps) -> Entry:
    if place is None:
        return Entry("")
    if place.grade is None:
        return Entry(status_word(place.result.status))
    if place.withheld:
        return Entry(WITHHELD)
    mark = MARKS[place.grade]
    if place.is_base and place.time is not None:
        return Entry(f"{' '.join(time_digits(place.time.value))}{mark}")
    if place.speed_up is None:
        return Entry(EMPTY)
    return Entry(f"{factor_digits(found.shown(place.speed_up.value))}{VERDICTS.get(place.result.verdict, '')}{mark}")


def _means(found: SpeedUps) -> list[tuple[Entry, ...]]:
    """Make a row of geometric means for each track."""
    return [
        (
            Entry(mean_name(found, track, short=True)),
            *(Entry(mean_digits(found, track, column)) for column in found.columns),
        )
        for track in found.tracks
    ]
