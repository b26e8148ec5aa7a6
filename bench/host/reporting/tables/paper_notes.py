"""Writes the caption and the notes of a paper's table from what ran, never from a title."""

from __future__ import annotations

from collections import Counter

from ...analysis.quality import Quality
from ...statistics.bootstrap import LEVEL
from ..words.language import _
from ..words.numbers import percent
from ..words.quality import meaning
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
    if all(place.speed_up is None or place.speed_up.n < 2 for place in found.places()):
        return _(
            "Time per step of {baseline}, and speed-up of the others over it: above 1 they are faster ({conditions}). "
            "Workloads: {workloads}. Bold: the best of a row. {how}",
            **said,
        )
    return _(
        "Time per step of {baseline}, and speed-up of the others over it: above 1 they are faster ({conditions}). "
        "Workloads: {workloads}. Bold: the best of a row, and all whose {level} intervals overlap its interval. {how}",
        level=percent(LEVEL),
        **said,
    )


def notes(found: SpeedUps) -> list[tuple[Quality | None, str]]:
    """Explain marks and missing numbers, each with the grade whose mark it explains."""
    places = found.places()
    grades = Counter(place.grade for place in places if place.grade)
    count = sum(grades.values())
    lines: list[tuple[Quality | None, str]] = []
    lines += [
        (grade, _("{meaning} ({number} of {count} cells).", meaning=meaning(grade), number=grades[grade], count=count))
        for grade in (Quality.NOISY, Quality.UNSTEADY)
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
