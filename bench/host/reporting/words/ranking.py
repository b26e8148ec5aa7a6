"""Writes what a ranking rests on, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...analysis.ranking import Contest, Ranked, Support
from ...analysis.results import Result
from .labels import Labels, labels_of, with_label
from .language import _, ngettext
from .notes import in_words
from .row_names import row_name, threads_in_words, usual_facets
from .terms import enumerate_names, status_word
from .text import shorten

#: Characters of a list of rows; the CSV files have everything.
LIST_LENGTH = 600


def contest_name(contest: Contest) -> str:
    """Name a contest: ``cpu, 2 threads``."""
    return f"{contest.device}, {threads_in_words(contest.threads)}"


def ranking_remarks(ranked: Ranked, results: Sequence[Result]) -> list[str]:
    """Write for every contest with a ranking which rows and columns count, and why the others do not."""
    usual, labels = usual_facets(results), labels_of(results)
    names = {result.cell.row: row_name(result.cell, usual) for result in results}
    return [
        f"{_('On {contest}:', contest=contest_name(contest))} {_support(contest.support, names, labels)}"
        for contest in ranked.contests
        if contest.support is not None
    ]


def no_ranking_remark(ranked: Ranked, results: Sequence[Result]) -> str:
    """Write why there is no ranking, where there is none."""
    labels = labels_of(results)
    return " ".join(
        _(
            "No ranking for {contest}: {why}.",
            contest=contest_name(contest),
            why=in_words([with_label(contest.why, "baseline", labels)])[0],
        )
        for contest in ranked.contests
        if contest.why is not None
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
