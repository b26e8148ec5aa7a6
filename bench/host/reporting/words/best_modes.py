"""Says how fast the versions are in their best modes, in a line or two of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from ...analysis.best_modes import BestModes, BestOfVersion, environment_of
from ...analysis.speed_ups import Track
from .answer import HUNDREDTHS
from .labels import Labels, names_of_versions
from .language import _, ngettext
from .numbers import format_factor

#: Letters of the versions that are named; the words before them may need a second line of the screen.
ROOM = 68


def best_per_row(
    best: BestModes | None, labels: Labels, track: Track | None = None, *, as_ratios: bool = False
) -> list[str]:
    """Say in a line how fast the versions are, each in its best mode of every row: three or so.

    A version with one mode has its mean in the table, of ``track``, where that is over as many rows.
    With ``as_ratios`` it says how long they take, as the table does.
    Nothing where most rows have a single process: the choice among its times flatters.
    """
    if best is None or 2 * best.chosen_by_itself >= best.rows:
        return []
    names = names_of_versions({one.environment: one.columns[0] for one in best.versions}, labels)
    means = track.means if track is not None and track.rows == best.rows else {}
    versions = [(one, _mean(one, means)) for one in best.versions]
    # By the numbers that are shown, which may be the table's.
    versions.sort(key=lambda version: -version[1])
    rows = "" if track is None or track.rows == best.rows else _rows(best.rows)
    text = ""
    for count in range(2, len(best.versions) + 1):
        longer = _joined(versions[:count], names, as_ratios)
        if text and cell_len(longer) > ROOM:
            break
        text = longer
    if _leads_on_average(versions[0][0], track):
        return [_("Best mode per row{rows}: {versions}.", rows=rows, versions=text)]
    return [_("Best mode per row{rows}, not one mode for all: {versions}.", rows=rows, versions=text)]


def _rows(count: int) -> str:
    """Say over how many rows these means are, where those of the table are over others."""
    return f" ({ngettext('{count} row', '{count} rows', count)})"


def _leads_on_average(fastest: BestOfVersion, track: Track | None) -> bool:
    """Tell whether the fastest version is that of the fastest column on average, which the sentence above names."""
    if track is None or not track.means:
        return True
    return environment_of(max(track.means, key=lambda column: track.means[column])) == fastest.environment


def _mean(one: BestOfVersion, means: Mapping[str, float]) -> float:
    """Return the speed-up of a version."""
    alone = means.get(one.columns[0]) if len(one.columns) == 1 else None
    return 1.0 / one.ratio.value if alone is None else alone


def _joined(versions: Sequence[tuple[BestOfVersion, float]], names: Mapping[str, str], as_ratios: bool) -> str:
    """Name versions with their speed-ups, or ratios: first those that may be the fastest, joined by an "or"."""
    text = ""
    for one, mean in sorted(versions, key=lambda version: not version[0].leads):
        factor = format_factor(1.0 / mean if as_ratios else mean, HUNDREDTHS)
        other = f"{names[one.environment]} ({factor})"
        if not text:
            text = other
        else:
            text = _("{first} or {other}", first=text, other=other) if one.leads else f"{text}; {other}"
    return text
