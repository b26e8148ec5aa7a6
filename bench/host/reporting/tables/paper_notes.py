"""Writes the caption and the notes of a paper's table from what ran, never from a title."""

from __future__ import annotations

import enum
from collections import Counter

from ...analysis.quality import Quality
from ...statistics.bootstrap import LEVEL
from ...statistics.verdict import Verdict
from ...study.baseline import CHOSEN, PREVIOUS
from ..words.answer import NAMED
from ..words.language import _
from ..words.numbers import percent
from ..words.page import verdicts
from ..words.quality import meaning
from ..words.terms import enumerate_names, status_word
from ..words.text import first_words
from .speedup_values import SpeedUps


class About(enum.Enum):
    """What a note explains: a mark, or numbers that are not there."""

    DIFFERENT = enum.auto()
    EQUIVALENT = enum.auto()
    NOISY = enum.auto()
    UNSTEADY = enum.auto()
    SETTINGS = enum.auto()
    MISSING = enum.auto()


def caption(found: SpeedUps, conditions: str, *, whole: bool = True) -> str:
    """Say what the numbers are, what was measured, how, where and when; ``whole`` tables have all columns."""
    if found.baseline in CHOSEN:
        numbers = (
            _("Time per step over that of {baseline}; times where there is none", baseline=found.baseline_name)
            if found.as_ratios
            else _("Speed-up over {baseline}; times where there is none", baseline=found.baseline_name)
        )
    elif found.as_ratios and found.lacks_baseline:
        numbers = _(
            "Time per step of {baseline}, and of all where it has none; ratio of the others' times to it: below 1 "
            "they are faster",
            baseline=found.baseline_name,
        )
    elif found.as_ratios:
        numbers = _(
            "Time per step of {baseline}, and ratio of the others' times to it: below 1 they are faster",
            baseline=found.baseline_name,
        )
    elif found.lacks_baseline:
        numbers = _(
            "Time per step of {baseline}, and of all where it has none; speed-up of the others over it: above 1 they "
            "are faster",
            baseline=found.baseline_name,
        )
    else:
        numbers = _(
            "Time per step of {baseline}, and speed-up of the others over it: above 1 they are faster",
            baseline=found.baseline_name,
        )
    said = {
        "numbers": numbers,
        "conditions": found.conditions,
        "workloads": enumerate_names(list(dict.fromkeys(result.cell.workload for result in found.results))),
        "how": conditions,
    }
    if found.baseline == PREVIOUS:
        return _("{numbers} ({conditions}). Workloads: {workloads}. {how}", **said)
    said["bold"] = _bold(found, whole=whole)
    return _("{numbers} ({conditions}). Workloads: {workloads}. {bold} {how}", **said)


def _bold(found: SpeedUps, *, whole: bool) -> str:
    """Say what is bold; where columns are left out, a row may have nothing bold."""
    said = {"level": percent(LEVEL)}
    alone = all(cell.speed_up is None or cell.speed_up.n < 2 for cell in found.cells())
    if alone and whole:
        return _("Bold: the best of a row.")
    if alone:
        return _("Bold: the best of a row, of all columns measured.")
    if whole:
        return _("Bold: the best of a row, and all that may be as fast ({level} interval of the ratio).", **said)
    return _(
        "Bold: the best of a row, of all columns measured, and all that may be as fast ({level} interval of the "
        "ratio).",
        **said,
    )


def notes(found: SpeedUps) -> list[tuple[About, str]]:
    """Explain marks and missing numbers, each in a short line, with what it is about."""
    cells = found.cells()
    grades = Counter(cell.grade for cell in cells if cell.grade)
    count = sum(grades.values())
    marked = {About.NOISY: Quality.NOISY, About.UNSTEADY: Quality.UNSTEADY}
    lines = _verdicts(found)
    lines += [
        (about, _("{meaning} ({number} of {count} cells).", meaning=meaning(grade), number=grades[grade], count=count))
        for about, grade in marked.items()
        if grades[grade]
    ]
    names = list(dict.fromkeys(name for own in found.explained.values() for name in own))
    if names:
        listed = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        lines.append((About.SETTINGS, _("settings that may matter differ: {settings}.", settings=listed)))
    withheld = sum(cell.withheld for cell in cells)
    if withheld:
        text = _(
            "--: withheld, other programs used the processors ({number} of {count} cells).",
            number=withheld,
            count=count,
        )
        lines.append((About.MISSING, text))
    failed = Counter(cell.result.status for cell in cells if cell.grade is None)
    if failed:
        listed = ", ".join(f"{number} {status_word(status)}" for status, number in failed.most_common())
        lines.append((About.MISSING, _("--: without a time ({listed}).", listed=listed)))
    return [(about, first_words(text)) for about, text in lines]


def _verdicts(found: SpeedUps) -> list[tuple[About, str]]:
    """Explain and count the verdicts, where there are any."""
    judged = [cell.result.verdict for cell in found.cells() if cell.speed_up is not None and cell.result.verdict]
    meanings, count = verdicts(), len(judged)
    return [
        (
            about,
            _(
                "{meaning} ({number} of {count} comparisons).",
                meaning=meanings[verdict.value],
                number=number,
                count=count,
            ),
        )
        for about, verdict in ((About.DIFFERENT, Verdict.DIFFERENT), (About.EQUIVALENT, Verdict.EQUIVALENT))
        if (number := judged.count(verdict))
    ]
