"""Makes one table of the claims of several studies, each answered by one run or by several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...analysis.claim_tests import Why
from ...analysis.claims import AnsweredClaim, AnsweredClaims
from ...statistics.verdict import ALPHA
from ..words import claims as words
from ..words.labels import Label
from ..words.language import _
from ..words.numbers import percent
from ..words.text import EMPTY, printable
from .table import Column, Entry, Table, ungrouped, with_columns

#: The columns of the source, of what is claimed and of the run.
MAY_REPEAT = (1, 2, 4)


@dataclass(frozen=True)
class AnswersOfRun:
    """What one run says about the claims of one study."""

    run: str
    answers: AnsweredClaims
    labels: Mapping[str, Label]
    finished: bool


def show(studies: Sequence[Sequence[AnswersOfRun]]) -> Table:
    """Make the table: on each device, the runs with the most workloads of a claim and the most pairs of processes."""
    columns = (
        Column(_("claim"), "left", wraps=True),
        Column(_("source"), "left", dispensable=2, wraps=True),
        Column(_("claimed"), "left"),
        Column(_("measured"), "left", wraps=True),
        Column(_("run"), "left", dispensable=1),
        Column(_("answer"), "left"),
    )
    rows = (row for runs in studies for row in _rows(runs))
    caption = _(
        "A factor says how many times as good the first is as the second, 0.5 half as good: the geometric mean over "
        "workloads with its interval, and on how many workloads it is as claimed. It is about the time per step where "
        "nothing else is named. An answer is certain at {alpha}, corrected for all claims of its study.",
        alpha=percent(ALPHA),
    )
    return _without_repetition(Table("claims", _("Claims"), caption, columns, ungrouped(rows, len(columns))))


def _without_repetition(table: Table) -> Table:
    """Say once, above the table, where all claims come from, what all say, or which run answers all."""
    rows = table.rows
    same = [i for i in MAY_REPEAT if len(rows) > 1 and len({row[i].text for row in rows}) == 1]
    if not same:
        return table
    said = "; ".join(f"{table.columns[i].title}: {rows[0][i].text}" for i in same)
    kept = [i for i in range(len(table.columns)) if i not in same]
    return replace(with_columns(table, kept), caption=f"{table.caption} {_('The same for all: {said}.', said=said)}")


def _rows(runs: Sequence[AnswersOfRun]) -> list[tuple[Entry, ...]]:
    rows = []
    for found in zip(*(one.answers.claims for one in runs), strict=True):
        pairs = list(zip(runs, found, strict=True))
        told: list[tuple[AnswersOfRun, AnsweredClaim]] = []
        for device in dict.fromkeys(_device(claim) for claim in found if claim.deciding):
            here = [pair for pair in pairs if _device(pair[1]) == device]
            # Few workloads do not outdo many. Runs are chosen by how much was measured, never by what came out.
            most = max(_workloads(claim) for _, claim in here)
            widest = [pair for pair in here if _workloads(pair[1]) == most]
            widest = [pair for pair in widest if pair[0].finished] or widest
            most = max(_pairs(claim) for _, claim in widest)
            widest = [pair for pair in widest if _pairs(pair[1]) == most]
            told += widest
        rows += [_row(*pair) for pair in told or pairs[:1]]
    return rows


def _workloads(found: AnsweredClaim) -> int:
    return 0 if found.deciding is None else found.deciding.factor.n


def _pairs(found: AnsweredClaim) -> int:
    return 0 if found.deciding is None else found.deciding.pairs


def _device(found: AnsweredClaim) -> str | None:
    return None if found.deciding is None else found.deciding.best.cell.device


def _row(of: AnswersOfRun, found: AnsweredClaim) -> tuple[Entry, ...]:
    claim, versus = found.claim, found.deciding
    why = (
        _("not measured") if found.why is Why.NOT_MEASURED and not versus else words.why_open(found, of.answers.needed)
    )
    return (
        Entry(f"{claim.name}: {printable(claim.says)}"),
        Entry(printable(claim.source)),
        Entry(words.claimed(claim)),
        Entry(EMPTY if versus is None else words.measured(claim, versus, of.labels)),
        Entry(EMPTY if versus is None else of.run if of.finished else _("{run}, unfinished", run=of.run)),
        Entry(words.answer_word(found.answer), (why,) if why else ()),
    )
