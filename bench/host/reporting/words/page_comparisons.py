"""Holds the words of the page that name comparisons: what with, which way they go, and what they lack."""

from __future__ import annotations

from .language import _


def compared_with(baseline: str, *, as_ratios: bool = False) -> str:
    """Say what the numbers of the answer compare with."""
    if as_ratios:
        return _("Ratios are times over those of {baseline}.", baseline=baseline)
    return _("Speed-ups are over {baseline}.", baseline=baseline)


def of_comparisons(*, as_ratios: bool) -> dict[str, str]:
    """Return the words of the scripts, by the names that they use."""
    return {**_of_another_baseline(), **(_ratios() if as_ratios else _speed_ups())}


def _speed_ups() -> dict[str, str]:
    return {
        "speedups": _("speed-ups"),
        "speedup": _("speed-up"),
        "chart": _("Speed-up over {baseline}", baseline="{baseline}"),
        "chartHint": _("Higher is faster. The scale is logarithmic."),
        "noSpeedup": _("Every speed-up was withheld: other programs were computing."),
        "noBaseline": _("No baseline was measured, so there are no speed-ups."),
        "bar": _(
            "{column}: {speedup} times as fast {interval}",
            column="{column}",
            speedup="{speedup}",
            interval="{interval}",
        ),
        "tableHint": _(
            "Speed-up over {baseline}; its own column has the time per step. Select an entry for its details.",
            baseline="{baseline}",
        ),
    }


def _ratios() -> dict[str, str]:
    return {
        "speedups": _("ratios"),
        "speedup": _("time ratio"),
        "chart": _("Time over that of {baseline}", baseline="{baseline}"),
        "chartHint": _("Lower is faster. The scale is logarithmic."),
        "noSpeedup": _("Every ratio was withheld: other programs were computing."),
        "noBaseline": _("No baseline was measured, so there are no ratios."),
        "bar": _(
            "{column}: {speedup} times as long {interval}",
            column="{column}",
            speedup="{speedup}",
            interval="{interval}",
        ),
        "tableHint": _(
            "Time over that of {baseline}, whose own column has the time per step. Select an entry for its details.",
            baseline="{baseline}",
        ),
    }


def _of_another_baseline() -> dict[str, str]:
    """Say what the page can compare with another baseline than the study's, and how to get all of it."""
    return {
        "intervals": _("Lines show intervals."),
        "ofMedians": _("Another baseline than the study's: ratio of medians, without interval or verdict."),
        "switched": _(
            "The numbers below compare with {baseline}: ratios of medians, without intervals and verdicts.",
            baseline="{baseline}",
        ),
        "remade": _(
            "To get intervals against {baseline}, and verdicts if the run has enough rounds, make the report again:",
            baseline="{baseline}",
        ),
        "back": _("Back to {baseline} and its findings", baseline="{baseline}"),
    }
