"""Makes the tables of a study's claims: what each says, what was measured, the answer, and what lies behind it."""

from __future__ import annotations

from ...analysis.claims import AnsweredClaim, AnsweredClaims, Versus
from ...analysis.run_analysis import Analysis
from ...statistics.bootstrap import LEVEL
from ...storage.manifest import Manifest
from ..words import claims as words
from ..words.caption import compared_of, describe_conditions
from ..words.labels import Labels, labels_of
from ..words.language import _
from ..words.numbers import percent
from ..words.text import EMPTY, printable
from .table import Column, Entry, Group, Table, remarks, ungrouped


def tables(answers: AnsweredClaims, analysis: Analysis, manifest: Manifest) -> tuple[Table, ...]:
    """Return the claims, a line each, and every comparison behind them; nothing where the study has no claims."""
    if not answers.claims:
        return ()
    labels = labels_of(analysis.results)
    conditions = describe_conditions(manifest, analysis.results)
    title = compared_of(analysis.results, manifest)
    return _claims(answers, manifest, f"{title}. {conditions}", labels), _behind(answers, manifest, labels)


def _claims(answers: AnsweredClaims, manifest: Manifest, conditions: str, labels: Labels) -> Table:
    columns = (
        Column(_("claim"), "left", wraps=True),
        Column(_("claimed"), "left"),
        Column(_("measured"), "left", wraps=True),
        Column(_("answer"), "left"),
    )
    rows = (_claim(one, labels, answers.needed) for one in answers.claims)
    caption = _(
        "Claims: by what factor the first is better than the second, geometric mean over workloads with a {level} "
        "interval, and on how many workloads it is as claimed. {conditions}",
        level=percent(LEVEL),
        conditions=conditions,
    )
    return Table(
        f"{manifest.study.name}-claims",
        _("Claims"),
        caption,
        columns,
        ungrouped(rows, len(columns)),
        remarks(words.rests_on(answers)),
    )


def _claim(found: AnsweredClaim, labels: Labels, needed: int) -> tuple[Entry, ...]:
    claim, versus = found.claim, found.deciding
    why = words.why_open(found, needed)
    return (
        Entry(f"{claim.name}: {printable(claim.says)}"),
        Entry(words.claimed(claim)),
        Entry(EMPTY if versus is None else words.measured(claim, versus, labels)),
        Entry(words.answer_word(found.answer), (why,) if why else ()),
    )


def _behind(answers: AnsweredClaims, manifest: Manifest, labels: Labels) -> Table:
    columns = (
        Column(_("compared"), "left", wraps=True),
        Column(_("factor")),
        Column(_("interval"), "left", dispensable=1),
        Column(_("smallest"), "left", dispensable=3),
        Column(_("largest"), "left", dispensable=2),
        Column(_("workloads"), "left"),
        Column(_("pairs")),
        Column(_("answer"), "left"),
    )
    groups = tuple(
        Group(_heading(found), ("",) * len(columns), tuple(_versus(found, v, labels, answers) for v in found.versus))
        for found in answers.claims
        if found.versus
    )
    caption = _(
        "Every comparison of the claims: the smallest and the largest factor with its workload, on how many workloads "
        "the factor is as claimed, and the fewest pairs of processes of a row."
    )
    return Table(f"{manifest.study.name}-claims-behind", _("Behind the claims"), caption, columns, groups)


def _heading(found: AnsweredClaim) -> Entry:
    claim = found.claim
    parts = [f"{claim.name}: {printable(claim.says)}", printable(claim.source)]
    parts.append(f"{words.quantity_word(claim.quantity)} {words.claimed(claim)}")
    return Entry("; ".join(filter(None, parts)))


def _versus(found: AnsweredClaim, versus: Versus, labels: Labels, answers: AnsweredClaims) -> tuple[Entry, ...]:
    ends = (min(versus.rows, key=lambda row: row.factor.value), versus.best)
    why = words.why_versus(versus, answers.needed)
    return (
        Entry(words.compared(found.claim, versus, labels)),
        *map(Entry, words.factor(versus.factor)),
        *(Entry(f"{words.factor(row.factor)[0]} {row.cell.workload}") for row in ends),
        Entry(_("{count} of {total}", count=versus.agreeing, total=versus.factor.n)),
        Entry(str(versus.pairs)),
        Entry(words.answer_word(versus.answer), (why,) if why else ()),
    )
