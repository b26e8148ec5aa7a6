"""Ranks the columns over the rows of one device and one number of threads, as the means of speed-ups are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..statistics import ranking
from ..statistics.bootstrap import Estimate
from ..statistics.performance_profile import PerformanceProfile
from ..storage.manifest import Manifest
from ..study.baseline import CHOSEN
from .best_modes import BestModes, choose_modes
from .comparable_times import ByColumn, comparable, disturbed, log_locations
from .notes import Note, NoteKind, Severity, note
from .profiles import profile_track
from .quality import Quality
from .results import Result, by_track, columns_of
from .run_analysis import Analysis
from .speed_ups import FEWEST_ROWS, Track, in_most_rows, inverse

FEWEST_COLUMNS = 2
#: A profile is shown at these multiples of the best time of a row.
FACTORS = (1.0, 1.25, 1.5, 2.0, 5.0, 10.0)
#: Why a column has no time in a row, beside the status of its cell.
NOT_PLANNED, SETTINGS_DIFFER = "not planned", "settings differ"


@dataclass(frozen=True)
class RankedColumn:
    """One column in one track; a column without a standing was not ranked."""

    column: str
    device: str
    threads: int
    standing: ranking.Standing | None
    #: See ``profiles``; None for a column with too few rows.
    profile: PerformanceProfile | None
    is_baseline: bool


@dataclass(frozen=True)
class Support:
    """The rows and columns that a ranking rests on; rows are named as ``Cell.row`` names them."""

    #: Rows in which every ranked column has a comparable time.
    rows: tuple[str, ...]
    #: Rows in which no processes of all ranked columns took turns.
    unpaired: tuple[str, ...]
    #: (row, ((column, why it has no time there), …)) of the other rows that are left out.
    incomplete: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    #: Columns that were not ranked, as too few rows would remain in common.
    unranked: tuple[str, ...]
    #: Rows behind the profiles: those in which every column with a profile was tried.
    profiled: int


@dataclass(frozen=True)
class RankedTrack:
    """The columns on one device, with one number of threads; ``speed_ups.Track`` has their means."""

    device: str
    threads: int
    columns: tuple[RankedColumn, ...] = ()
    #: None where there is no ranking…
    support: Support | None = None
    #: The versions, each with its best mode in every row; None where none has several modes.
    best_modes: BestModes | None = None
    #: …for this reason.
    why: Note | None = None


@dataclass(frozen=True)
class Ranked:
    """All rankings of a run, one for each track."""

    tracks: tuple[RankedTrack, ...]

    @property
    def columns(self) -> tuple[RankedColumn, ...]:
        return tuple(column for track in self.tracks for column in track.columns)

    def track(self, device: str, threads: int) -> RankedTrack | None:
        same = (track for track in self.tracks if (track.device, track.threads) == (device, threads))
        return next(same, None)

    def means(self, track: Track) -> dict[str, Estimate]:
        """Return the mean speed-ups of a track: {column: mean}.

        Each has the interval of its column in the ranking, where that is over as many rows.
        """
        ranked = self.track(track.device, track.threads)
        standings = {one.column: one.standing for one in ranked.columns} if ranked else {}
        means = {}
        for column, mean in track.means.items():
            standing = standings.get(column)
            means[column] = (
                Estimate(mean, None, None, track.rows)
                if standing is None or standing.ratio.n != track.rows
                else replace(inverse(standing.ratio), value=mean)
            )
        return means

    def leaders(self, device: str, threads: int) -> tuple[str, ...]:
        """Return the columns that may be the fastest of a track, by the intervals of their ranks."""
        found = [one for one in self.columns if (one.device, one.threads) == (device, threads)]
        return tuple(one.column for one in found if one.standing is not None and one.standing.best_rank == 1)


def rank(analysis: Analysis, manifest: Manifest) -> Ranked:
    """Rank the columns of every track; without a baseline there is no ranking."""
    # A ranking compares all columns with one of them.
    if manifest.study.baseline is None or manifest.study.baseline in CHOSEN:
        return Ranked(())
    return Ranked(
        tuple(_rank_track(results, manifest.study.baseline) for results in by_track(analysis.results).values())
    )


def _rank_track(results: Sequence[Result], baseline: str) -> RankedTrack:
    """Rank the columns of one track."""
    device, threads = results[0].cell.device, results[0].cell.threads
    by_column: dict[str, dict[str, Result]] = {column: {} for column in columns_of(results)}
    for result in results:
        by_column[result.cell.column][result.cell.row] = result
    entrants = choose_entrants(by_column, baseline)
    found = (
        ranking.rank(log_locations({column: by_column[column] for column in entrants}), baseline)
        if baseline in entrants
        else None
    )
    why = _lack(entrants, baseline, found)
    if found is None or why:
        return RankedTrack(device, threads, why=why)
    profiled = profile_track(results)
    profiles = profiled.columns
    order = [*found.standings, *(column for column in by_column if column not in found.standings)]
    return RankedTrack(
        device,
        threads,
        tuple(RankedColumn(c, device, threads, found.standings.get(c), profiles.get(c), c == baseline) for c in order),
        _support(found, by_column, len(profiled.rows)),
        choose_modes(by_column, baseline),
    )


def choose_entrants(by_column: ByColumn, baseline: str) -> list[str]:
    """Choose the columns to rank: those that have a time, less the ones for which too few rows would remain.

    A column in few of the rows, such as a mode for training only, is not ranked, as it gets no mean among speed-ups.
    """
    rows = {column: {row for row, result in own.items() if comparable(result)} for column, own in by_column.items()}
    return in_most_rows(rows, kept=baseline)


def _lack(entrants: Sequence[str], baseline: str, found: ranking.Ranking | None) -> Note | None:
    """Return why there is no ranking; None where there is one."""
    if baseline not in entrants:
        return note(NoteKind.RANKING_WITHOUT_BASELINE, Severity.INFO, baseline=baseline)
    rows = len(found.support) if found else 0
    if len(entrants) >= FEWEST_COLUMNS and rows >= FEWEST_ROWS:
        return None
    return note(
        NoteKind.RANKING_TOO_SMALL,
        Severity.INFO,
        columns=len(entrants),
        rows=rows,
        fewest_columns=FEWEST_COLUMNS,
        fewest_rows=FEWEST_ROWS,
    )


def _support(found: ranking.Ranking, by_column: ByColumn, profiled: int) -> Support:
    """Return which rows and columns count, and why the others do not."""
    incomplete = tuple(
        (row, tuple((c, _reason(by_column[c].get(row))) for c, missing in found.missing if missing == row))
        for row in dict.fromkeys(row for _, row in found.missing)
    )
    unranked = tuple(column for column in by_column if column not in found.standings)
    return Support(found.support, found.unpaired, incomplete, unranked, profiled)


def _reason(result: Result | None) -> str:
    """Return why a column has no time in a row."""
    if result is None:
        return NOT_PLANNED
    if result.refused:
        return SETTINGS_DIFFER
    return Quality.DISTURBED.value if disturbed(result) else result.status
