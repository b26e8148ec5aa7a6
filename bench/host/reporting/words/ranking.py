"""Writes what a ranking rests on, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...analysis.best_modes import BestModes
from ...analysis.ranking import Ranked, RankedTrack, Support
from ...analysis.results import Result
from ...analysis.speed_ups import inverse
from .labels import Labels, labels_of, names_of_versions, with_label
from .language import _, ngettext
from .notes import in_words
from .numbers import DEFAULT, format_interval, format_value
from .row_names import row_name, threads_in_words, usual_facets
from .terms import enumerate_names, status_word
from .text import shorten

#: Characters of a list of rows; the CSV files have everything.
LIST_LENGTH = 600


def track_name(track: RankedTrack) -> str:
    """Name a track: ``cpu, 2 threads``."""
    return f"{track.device}, {threads_in_words(track.threads)}"


def ranking_remarks(ranked: Ranked, results: Sequence[Result]) -> list[str]:
    """Write for every track with a ranking which rows and columns count, and why the others do not."""
    usual, labels = usual_facets(results), labels_of(results)
    names = {result.cell.row: row_name(result.cell, usual) for result in results}
    return [
        f"{_('On {track}:', track=track_name(track))} {_support(track.support, names, labels)}"
        for track in ranked.tracks
        if track.support is not None
    ]


def best_mode_remarks(ranked: Ranked, results: Sequence[Result], baseline: str, *, as_ratios: bool) -> list[str]:
    """Write for every track how fast the versions are, each in its best mode of every row; see ``best_modes``.

    With ``as_ratios`` they are time ratios instead of speed-ups.
    """
    labels = labels_of(results)
    return [
        _best_modes(track.best_modes, track_name(track), labels, baseline, as_ratios)
        for track in ranked.tracks
        if track.best_modes is not None
    ]


def _best_modes(best: BestModes, track: str, labels: Labels, baseline: str, as_ratios: bool) -> str:
    names = names_of_versions({one.environment: one.columns[0] for one in best.versions}, labels)
    said = []
    for one in best.versions:
        shown = one.ratio if as_ratios else inverse(one.ratio)
        # Fewer digits would not tell apart versions that are close.
        numbers = format_value(shown, fewest=DEFAULT), format_interval(shown, fewest=DEFAULT)
        said.append(" ".join(filter(None, (names[one.environment], *numbers))))
    named = {"track": track, "baseline": labels[baseline].text, "versions": "; ".join(said)}
    text = (
        ngettext(
            "With each version's best mode in every row, ratios to {baseline}, {count} row, {track}: {versions}.",
            "With each version's best mode in every row, ratios to {baseline}, {count} rows, {track}: {versions}.",
            best.rows,
            **named,
        )
        if as_ratios
        else ngettext(
            "With each version's best mode in every row, speed-ups over {baseline}, {count} row, {track}: {versions}.",
            "With each version's best mode in every row, speed-ups over {baseline}, {count} rows, {track}: {versions}.",
            best.rows,
            **named,
        )
    )
    corrected = _(
        "Each process counts in the mode that the row's other processes choose, so that the choice does not flatter."
    )
    if not best.chosen_by_itself:
        return f"{text} {corrected}"
    alone = ngettext(
        "In {count} row a single process chooses for itself, which flatters.",
        "In {count} rows a single process chooses for itself, which flatters.",
        best.chosen_by_itself,
    )
    return f"{text} {alone}" if best.chosen_by_itself == best.rows else f"{text} {corrected} {alone}"


def no_ranking_remark(ranked: Ranked, results: Sequence[Result]) -> str:
    """Write why there is no ranking, where there is none."""
    labels = labels_of(results)
    return " ".join(
        _(
            "No ranking for {track}: {why}.",
            track=track_name(track),
            why=in_words([with_label(track.why, "baseline", labels)])[0],
        )
        for track in ranked.tracks
        if track.why is not None
    )


def _support(support: Support, names: Mapping[str, str], labels: Labels) -> str:
    rows = enumerate_names([names[row] for row in support.rows])
    count = ngettext(
        "ranked on {count} row that all have in common",
        "ranked on {count} rows that all have in common",
        len(support.rows),
    )
    text = f"{count} ({shorten(rows, LIST_LENGTH)})."
    clauses = [_("{row} (no processes of all columns took turns)", row=names[row]) for row in support.unpaired]
    for row, reasons in support.incomplete:
        listed = ", ".join(f"{labels[column].text}: {status_word(reason)}" for column, reason in reasons)
        clauses.append(f"{names[row]} ({listed})")
    if clauses:
        text += f" {_('Left out: {rows}.', rows=shorten('; '.join(clauses), LIST_LENGTH))}"
    if support.unranked:
        columns = enumerate_names([labels[column].text for column in support.unranked])
        text += f" {_('Not ranked, as too few rows would remain in common: {columns}.', columns=columns)}"
    profiled = ngettext(
        "Profiles: over {count} row in which all with a profile were tried.",
        "Profiles: over {count} rows in which all with a profile were tried.",
        support.profiled,
    )
    return f"{text} {profiled}"
