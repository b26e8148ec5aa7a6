"""Says in a few words what the quality of a number is; the tables, the page and the method say it alike."""

from __future__ import annotations

from ...analysis.quality import NOISY, NOISY_TIME, SHARE_OF_DISTANCE, Quality
from .language import _
from .numbers import percent


def meaning(grade: Quality) -> str:
    """Say what a grade means, in a clause."""
    words = {
        Quality.CLEAN: _("clean: firm enough for its conclusion"),
        Quality.NOISY: _("noisy: a repeat may say otherwise"),
        Quality.UNSTEADY: _("unsteady: samples lie far apart"),
        Quality.DISTURBED: _("disturbed: other programs were computing, so the time is not compared"),
    }
    return words[grade]


def noisy_rule() -> str:
    """Say when a number is noisy."""
    return _(
        "Noisy: the interval of a speed-up ends more than {ratio} away from it, and after more than {share} of the way "
        "to 1; that of a time ends more than {time} away.",
        ratio=percent(NOISY),
        share=percent(SHARE_OF_DISTANCE),
        time=percent(NOISY_TIME),
    )
