"""Writes how a version compares with another one: ``+4.1% [3.2, 5.0] slower``."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...analysis.fairness import GROUNDS, differences
from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point, Step, VersionVerdict
from ...analysis.releases import BUSY, Release
from ...analysis.result_notes import notes_on_status
from ...statistics.bootstrap import Estimate
from ...statistics.verdict import ALPHA
from .language import _, decimal_sign
from .notes import in_words
from .numbers import localise, percent
from .startup import format_break_even
from .terms import enumerate_names, status_word
from .text import shorten

#: From this half width of an interval on, in percent, no decimal is shown.
COARSE = 10.0
MINUS = "−"
#: Characters of the value of a setting.
VALUE_LENGTH = 60


def versions_in_words(history: History, only: str | None = None) -> str:
    """Name what is compared: ``PyTorch 1.13.1 to 2.15.0 and JAX 0.4.30 to 0.10.2``, or one family of it."""
    families: dict[str, list[str]] = {}
    for family, version in history.environments.values():
        if only in (None, family):
            families.setdefault(family, []).append(version)
    products = {course.line.family: course.line.product for course in history.courses}
    parts = [
        _(
            "{framework} {oldest} to {newest}",
            framework=products[family],
            oldest=versions[0],
            newest=versions[-1],
        )
        for family, versions in families.items()
        if family in products
    ]
    return enumerate_names(parts)


def baseline_of(courses: Iterable[Course]) -> str:
    """Name the version that all are compared with, where it is the same one everywhere."""
    found = {course.baseline.version for course in courses if course.baseline is not None}
    return found.pop() if len(found) == 1 else _("the oldest version")


def change_word(change: VersionVerdict | None, quantity: Quantity) -> str:
    """Name a verdict; empty where there is none."""
    words = {
        VersionVerdict.MORE: _("slower") if quantity.is_time else _("larger"),
        VersionVerdict.LESS: _("faster") if quantity.is_time else _("smaller"),
        VersionVerdict.SAME: _("same"),
        VersionVerdict.UNCLEAR: _("unclear"),
    }
    return "" if change is None else words[change]


def format_change(step: Step | None, quantity: Quantity) -> str:
    """Write by how much a version differs, with the interval and the verdict; empty where nothing is known."""
    if step is None:
        return ""
    return f"{format_percent(step.ratio.estimate)} {change_word(step.change, quantity)}{_why_unclear(step)}".rstrip()


def _why_unclear(step: Step) -> str:
    """Say why a difference is unclear whose interval excludes equality.

    Beside one of the same size that is *slower*, only this explains it: the adjusted p value is above the level, or the
    difference is within the noise floor or half of what matters (``decide``).
    """
    ratio, p = step.ratio, step.adjusted_p
    low, high = ratio.estimate.low, ratio.estimate.high
    if step.change is not VersionVerdict.UNCLEAR or low is None or high is None or low <= 1.0 <= high or p is None:
        return ""
    if p > ALPHA:
        # Rounded up, so that the digits, too, are above the level.
        digits = 1 if p < 0.1 else 0
        shown = math.ceil(p * 10 ** (2 + digits)) / 10 ** (2 + digits)
        return f" {_('(p {value})', value=percent(shown, digits))}"
    certain = ratio.deciding is not None and not ratio.deciding[0] <= 1.0 <= ratio.deciding[1]
    return f" {_('(too small)')}" if certain else ""


def format_percent(ratio: Estimate, *, interval: bool = True) -> str:
    """Write a ratio as the difference from 1 in percent, to the digits that its interval supports."""
    low, high = ratio.low, ratio.high
    half = 100.0 * abs(ratio.value - 1.0) / 10.0 if low is None or high is None else 50.0 * (high - low)
    digits = 1 if half < COARSE else 0
    text = f"{_signed(ratio.value, digits, plus=True)}%"
    if not interval or low is None or high is None or low == high:
        return text
    # Where numbers have a comma of their own, another one between them would be misread.
    between = ";" if decimal_sign() == "," else ","
    return f"{text} [{_signed(low, digits)}{between} {_signed(high, digits)}]"


def _signed(ratio: float, digits: int, *, plus: bool = False) -> str:
    text = f"{100.0 * (ratio - 1.0):+.{digits}f}"
    # What is rounded to nothing has no sign.
    nothing = not text.strip("+-0.")
    sign = "" if nothing else MINUS if text[0] == "-" else "+" if plus else ""
    return sign + localise(text[1:])


def step_notes(point: Point, course: Course) -> tuple[str, ...]:
    """Name the version that one is compared with, where it is not the one before, and the settings that changed."""
    if point.before is None:
        return ()
    other, notes = point.before.other, []
    if other is not course.points[course.points.index(point) - 1].release:
        notes.append(_("compared with {version}: the version before has no time", version=other.version))
    notes += [
        _(
            "{setting} changed from {before} to {after}",
            setting=name,
            before=shorten(theirs, 60),
            after=shorten(mine, 60),
        )
        for name, mine, theirs in differences(point.release.result, other.result, GROUNDS)
    ]
    return tuple(notes)


def release_word(release: Release) -> str:
    """Say why a version has no time."""
    return _("busy") if release.status == BUSY else status_word(release.status)


def release_notes(release: Release) -> tuple[str, ...]:
    """Explain why a version has no time."""
    if release.status == BUSY:
        return (_("not shown: other programs used the processors"),)
    return in_words(notes_on_status(release.result))


def format_steps(found: Estimate | None) -> str:
    """Write after how many steps a version leads, with the interval: ``4100 [3800, 4500]``, ``at once``, ``never``."""
    text = format_break_even(None if found is None else found.value)
    if found is None or found.low is None or found.high is None or found.low == found.high:
        return text
    between = ";" if decimal_sign() == "," else ","
    return f"{text} [{format_break_even(found.low)}{between} {format_break_even(found.high)}]"
