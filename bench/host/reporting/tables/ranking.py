"""Knows how a ranking is shown: a group per contest, a row per column, the fastest first."""

from __future__ import annotations

from ...analysis.fairness import enumerate_names
from ...analysis.ranking import FACTORS, Place, Ranked
from ...analysis.run_analysis import Analysis
from ...statistics.bootstrap import LEVEL
from ...storage.manifest import Manifest
from ..footnotes import remarks
from ..words.caption import describe_conditions, title_of
from ..words.numbers import format_interval, format_value
from ..words.remarks import noise_remark
from .table import EMPTY, Column, Entry, Group, Table

RANKING = (
    Column("environment:mode", "left"),
    Column("ratio"),
    Column("interval", "left", dispensable=1),
    Column("rank"),
    Column("ranks", dispensable=2),
    *(Column(f"≤ {factor:g}×", dispensable=3 if factor in FACTORS[1:3] else 0) for factor in FACTORS),
)


def show(ranked: Ranked, analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table with a group per contest and a row per column, the fastest first."""
    contests = [contest for contest in ranked.contests if contest.places]
    if not contests:
        return None
    within = enumerate_names([f"{factor:g}" for factor in FACTORS])
    caption = (
        f"{title_of(manifest)}, ranking: geometric mean of the ratios to {manifest.study.baseline} (below 1 is "
        f"faster), rank and the ranks it may have, and the share of rows in which it took at most {within} times the "
        f"best time of the row (a failure takes for ever). {describe_conditions(manifest, analysis.results)}"
    )
    groups = tuple(
        Group(Entry(contest.name), ("",) * len(RANKING), tuple(map(_row, contest.places))) for contest in contests
    )
    notes = remarks(
        noise_remark(analysis, manifest),
        f"Intervals and ranks: {LEVEL:.0%} bootstrap over rows and the processes of each, all columns resampled alike.",
        *(contest.remark for contest in contests),
        ranked.remark,
    )
    return Table(f"{manifest.study.name}-ranking", "Ranking", caption, RANKING, groups, notes)


def _row(place: Place) -> tuple[Entry, ...]:
    standing, profile = place.standing, place.profile
    return (
        Entry(place.column),
        Entry(EMPTY if standing is None else "1" if place.is_baseline else format_value(standing.ratio)),
        Entry("" if standing is None or place.is_baseline else format_interval(standing.ratio)),
        Entry(str(standing.rank) if standing else EMPTY),
        Entry(_span(standing.best_rank, standing.worst_rank) if standing else EMPTY),
        *(Entry(f"{profile.share(factor):.0%}" if profile else EMPTY) for factor in FACTORS),
    )


def _span(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"
