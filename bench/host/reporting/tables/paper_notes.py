"""Writes the caption and the notes of a paper's table from what ran, never from a title."""

from __future__ import annotations

from collections import Counter

from ...analysis.quality import NOISY, Quality
from ...statistics.bootstrap import LEVEL, attainable_level
from ..words.language import _
from ..words.numbers import percent
from ..words.terms import enumerate_names
from .speedup_values import SpeedUps


def caption(found: SpeedUps, conditions: str) -> str:
    """Say what the numbers are, what was measured, how, where and when."""
    said = {
        "baseline": found.labels[found.baseline].text,
        "conditions": found.conditions,
        "workloads": enumerate_names(list(dict.fromkeys(result.cell.workload for result in found.results))),
        "how": conditions,
    }
    level = _level(found)
    if not level:
        return _(
            "Time per step of {baseline}, and speed-up of the others over it: above 1 they are faster ({conditions}). "
            "Workloads: {workloads}. Bold: the best of a row. {how}",
            **said,
        )
    return _(
        "Time per step of {baseline}, and speed-up of the others over it: above 1 they are faster ({conditions}). "
        "Workloads: {workloads}. Bold: the best of a row, and all whose {level} intervals overlap its interval. {how}",
        level=percent(level),
        **said,
    )


def _level(found: SpeedUps) -> float:
    """Return the level that every interval attains: few processes give less than the level aimed at."""
    counts = [place.speed_up.n for place in found.places() if place.speed_up]
    return min(LEVEL, attainable_level(min(counts, default=0)))


def notes(found: SpeedUps) -> list[tuple[Quality | None, str]]:
    """Explain marks and missing numbers, each with the grade whose mark it explains."""
    places = found.places()
    grades = Counter(place.grade for place in places if place.grade)
    count = sum(grades.values())
    lines: list[tuple[Quality | None, str]] = []
    meanings = {
        Quality.NOISY: _("noisy: the interval reaches further than {share} from the time", share=percent(NOISY)),
        Quality.UNSTEADY: _("unsteady: the samples of a process lie far apart"),
    }
    lines += [
        (grade, _("{meaning} ({number} of {count} cells).", meaning=meaning, number=grades[grade], count=count))
        for grade, meaning in meanings.items()
        if grades[grade]
    ]
    withheld = sum(place.withheld for place in places)
    if withheld:
        text = _(
            "--: withheld, other programs used the processors ({number} of {count} cells).",
            number=withheld,
            count=count,
        )
        lines.append((None, text))
    failed = Counter(place.result.status for place in places if place.grade is None)
    if failed:
        listed = ", ".join(f"{number} {status}" for status, number in failed.most_common())
        lines.append((None, _("--: without a time ({listed}).", listed=listed)))
    if found.means and found.whole_rows < len(found.rows):
        text = _(
            "Geometric mean: over the {number} rows in which every column with a mean has a number.",
            number=found.whole_rows,
        )
        lines.append((None, text))
    return lines
