"""Writes verdicts as the marks behind a ratio."""

from __future__ import annotations

from ...analysis.results import Comparison
from ...statistics.verdict import Verdict

MARKS = {Verdict.DIFFERENT: "*", Verdict.EQUIVALENT: "≈", Verdict.INCONCLUSIVE: "?"}


def mark(comparison: Comparison | None) -> str:
    """Write the verdict as one sign; a difference that may be claimed gets two."""
    if comparison is None or comparison.verdict is None:
        return ""
    return MARKS[comparison.verdict] * (2 if comparison.claimed else 1)
