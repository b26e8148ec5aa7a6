"""Writes the notes on a row and on a ranking. The arguments are the values of the notes."""

from __future__ import annotations

from .language import _, ngettext
from .text import shorten


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
