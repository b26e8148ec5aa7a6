"""Makes the table of the ranking: a group per track, a row per column, the fastest first."""

from __future__ import annotations

from ...analysis.ranking import FACTORS, Ranked, RankedColumn
from ...analysis.run_analysis import Analysis
from ...statistics.bootstrap import FEWEST_FOR_BOOTSTRAP, LEVEL
from ...storage.manifest import Manifest
from ...study.baseline import RATIO
from ..words.caption import baseline_name, compared_of, describe_conditions
from ..words.labels import Label, labels_of
from ..words.language import _
from ..words.numbers import format_interval, format_value, general, percent
from ..words.ranking import best_mode_remarks, no_ranking_remark, ranking_remarks, track_name
from ..words.remarks import noise_remark
from ..words.terms import enumerate_names
from ..words.text import EMPTY
from .table import Column, Entry, Group, Table, remarks


def ranking_columns() -> tuple[Column, ...]:
    return (
        Column(_("framework and mode"), "left"),
        Column(_("ratio")),
        Column(_("interval"), "left", dispensable=1),
        Column(_("rank")),
        Column(_("ranks"), dispensable=2),
        *(Column(f"≤ {general(factor)}×", dispensable=3 if factor in FACTORS[1:3] else 0) for factor in FACTORS),
    )


def show(ranked: Ranked, analysis: Analysis, manifest: Manifest) -> Table | None:
    """Make the table with a group per track and a row per column, the fastest first."""
    tracks = [track for track in ranked.tracks if track.columns]
    # Without a baseline there is no ranking.
    if not tracks or manifest.study.baseline is None:
        return None
    labels = labels_of(analysis.results)
    caption = _(
        "{title}, ranking: geometric mean of the ratios to {baseline} (below 1 is faster), rank and the ranks it may "
        "have, and the share of rows in which it took at most {factors} times the best time of the row (a failure has "
        "an infinite time).",
        title=compared_of(analysis.results, manifest),
        baseline=baseline_name(manifest.study.baseline, labels),
        factors=enumerate_names([general(factor) for factor in FACTORS]),
    )
    columns = ranking_columns()
    groups = tuple(
        Group(
            Entry(track_name(track)),
            ("",) * len(columns),
            tuple(_row(one, labels[one.column]) for one in track.columns),
        )
        for track in tracks
    )
    notes = remarks(
        noise_remark(analysis, manifest),
        _(
            "Intervals: {level} bootstrap over rows and the processes of each; over fewer than {count} rows at least "
            "as wide as Student's.",
            level=percent(LEVEL),
            count=FEWEST_FOR_BOOTSTRAP,
        ),
        _(
            "The ranks that a column may have are those that Student's tests of all pairs of columns over the rows "
            "leave open, at {level} for all columns together (Holm).",
            level=percent(LEVEL),
        ),
        *best_mode_remarks(ranked, analysis.results, manifest.study.baseline, as_ratios=manifest.study.ratios == RATIO),
        *ranking_remarks(ranked, analysis.results),
        no_ranking_remark(ranked, analysis.results),
    )
    return Table(
        f"{manifest.study.name}-ranking",
        _("Ranking"),
        f"{caption} {describe_conditions(manifest, analysis.results)}",
        columns,
        groups,
        notes,
    )


def _row(one: RankedColumn, label: Label) -> tuple[Entry, ...]:
    standing, profile = one.standing, one.profile
    return (
        Entry(label.text),
        Entry(EMPTY if standing is None else "1" if one.is_baseline else format_value(standing.ratio)),
        Entry("" if standing is None or one.is_baseline else format_interval(standing.ratio)),
        Entry(str(standing.rank) if standing else EMPTY),
        Entry(_span(standing.best_rank, standing.worst_rank) if standing else EMPTY),
        *(Entry(percent(profile.share(factor)) if profile else EMPTY) for factor in FACTORS),
    )


def _span(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"
