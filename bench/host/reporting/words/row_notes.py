"""Writes the notes on a row and on a ranking. The arguments are the values of the notes."""

from __future__ import annotations

from collections.abc import Sequence

from .language import _, ngettext
from .result_notes import VALUE_LENGTH
from .terms import enumerate_names
from .text import shorten


def settings_differ(
    settings: Sequence[tuple[str, Sequence[tuple[str, Sequence[str]]]]],
    unreported: Sequence[tuple[str, Sequence[str]]],
) -> str:
    clauses = []
    for name, holders in settings:
        values = ", ".join(
            _(
                "{value} in {names}",
                value=shorten(value, VALUE_LENGTH) or _("empty"),
                names=enumerate_names(list(names)),
            )
            for value, names in holders
        )
        clauses.append(_("{setting} is {values}", setting=name, values=values))
    clauses += [
        _("{setting} is not reported by {names}", setting=name, names=enumerate_names(list(names)))
        for name, names in unreported
    ]
    return _("settings differ: {differences}", differences="; ".join(clauses))


def not_compiled(columns: Sequence[str]) -> str:
    return _("not compiled: {columns}", columns=enumerate_names(list(columns)))


def data_source(source: str) -> str:
    return shorten(_("input: {source}", source=source))


def turns_disturbed(kept: int, turns: int, example: str) -> str:
    return shorten(
        _(
            "{kept} disturbed turns of {turns} are part of these numbers, for example: {example}",
            kept=kept,
            turns=turns,
            example=example,
        )
    )


def ranking_without_baseline(baseline: str) -> str:
    return _("the baseline {baseline} has no result", baseline=baseline)


def ranking_too_small(columns: int, rows: int, fewest_columns: int, fewest_rows: int) -> str:
    return _(
        "a ranking needs {fewest_columns} columns with {fewest_rows} rows in common; {columns} with {rows} in common "
        "have a result",
        fewest_columns=fewest_columns,
        fewest_rows=fewest_rows,
        columns=ngettext("{count} column", "{count} columns", columns),
        rows=ngettext("{count} row", "{count} rows", rows),
    )
