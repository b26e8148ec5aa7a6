"""Holds the words of the page that name comparisons: what with, which way they go, and what they lack."""

from __future__ import annotations

from .language import _, word

SPEED_UPS = {
    "speedups": word("speed-ups"),
    "speedup": word("speed-up"),
    "chart": word("Speed-up over {baseline}"),
    "chartHint": word("Higher is faster. The scale is logarithmic."),
    "noSpeedup": word("Every speed-up was withheld: other programs were computing."),
    "noBaseline": word("No baseline was measured, so there are no speed-ups."),
    "bar": word("{column}: {speedup} times as fast {interval}"),
    "tableHint": word(
        "Speed-up over {baseline}; its own column has the time per step. Select an entry for its details."
    ),
}
RATIOS = {
    "speedups": word("ratios"),
    "speedup": word("time ratio"),
    "chart": word("Time over that of {baseline}"),
    "chartHint": word("Lower is faster. The scale is logarithmic."),
    "noSpeedup": word("Every ratio was withheld: other programs were computing."),
    "noBaseline": word("No baseline was measured, so there are no ratios."),
    "bar": word("{column}: {speedup} times as long {interval}"),
    "tableHint": word(
        "Time over that of {baseline}, whose own column has the time per step. Select an entry for its details."
    ),
}
#: What the page can compare with another baseline than the report's, and how to get all of it.
OF_ANOTHER_BASELINE = {
    "intervals": word("Lines show intervals."),
    "intervalsOfMeans": word("Lines show intervals; those of means tell how much depends on the choice of workloads."),
    "ofMedians": word("Another baseline than the report's: ratio of medians, without interval or verdict."),
    "switched": word("The numbers below compare with {baseline}: ratios of medians, without intervals and verdicts."),
    "remade": word(
        "To get intervals against {baseline}, and verdicts if the run has enough rounds, make the report again:"
    ),
    "back": word("Back to {baseline} and its findings"),
}


def compared_with(baseline: str, *, as_ratios: bool) -> str:
    """Say what the numbers of the answer compare with."""
    if as_ratios:
        return _("Ratios are times over those of {baseline}.", baseline=baseline)
    return _("Speed-ups are over {baseline}.", baseline=baseline)


def of_comparisons(*, as_ratios: bool) -> dict[str, str]:
    """Return the words of the scripts, by the names that they use, in English."""
    return {**OF_ANOTHER_BASELINE, **(RATIOS if as_ratios else SPEED_UPS)}
