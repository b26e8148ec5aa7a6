"""Writes what a claim says, what was measured, and whether the data support it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...analysis.claim_tests import Shortage, Why
from ...analysis.claims import Answer, AnsweredClaim, AnsweredClaims, Versus
from ...statistics.bootstrap import Estimate
from ...statistics.verdict import ALPHA
from ...study import factor_range
from ...study.claim import FIRST_CALL, GRAPHS, MEMORY, STEP, WARM_START, Claim
from .labels import Label
from .language import _, decimal_sign, ngettext
from .numbers import fixed, general, percent
from .text import EMPTY, printable

#: Digits of a factor: of one whose interval is as narrow as this factor, and of one whose interval is wide.
CLOSE, NARROW, WIDE = 1.5, 3, 2


def quantity_word(quantity: str) -> str:
    """Name what a factor is of."""
    words = {
        STEP: _("time per step"),
        FIRST_CALL: _("first call"),
        WARM_START: _("warm first call"),
        MEMORY: _("memory"),
        GRAPHS: _("graphs"),
    }
    return words[quantity]


def answer_word(answer: Answer) -> str:
    """Name an answer."""
    words = {Answer.SUPPORTED: _("supported"), Answer.REFUTED: _("refuted"), Answer.OPEN: _("open")}
    return words[answer]


def claimed(claim: Claim) -> str:
    """Write the range of factors that a claim gives: ``> 1``, ``up to 1.78``, ``4 to 5``."""
    if claim.factor is None:
        return EMPTY
    ends = factor_range.parse(claim.factor)
    if len(ends) == 2:
        return _("{low} to {high}", low=general(ends[0].value), high=general(ends[1].value))
    if claim.up_to:
        return _("up to {factor}", factor=general(ends[0].value))
    sign = ">" if ends[0].above else "<"
    # One sign is narrower than two, and is what papers print.
    sign = {">": "≥", "<": "≤"}[sign] if ends[0].included else sign
    return f"{sign} {general(ends[0].value)}"


def compared(claim: Claim, versus: Versus, labels: Mapping[str, Label]) -> str:
    """Name the two sides of a comparison: ``JAX 0.10 jit / PyTorch 2.15 compile``."""
    column, other = labels[versus.column].text, labels[versus.against].text
    if claim.quantity == WARM_START:
        return _("{column}, warm / cold", column=column)
    if claim.against_workload is not None:
        workloads = ", ".join(dict.fromkeys(row.cell.workload for row in versus.rows))
        return f"{column}: {workloads} / {claim.against_workload}"
    return f"{column} / {other}"


def measured(claim: Claim, versus: Versus, labels: Mapping[str, Label]) -> str:
    """Write a measured factor, its interval, and on how many workloads it is as claimed; of "up to" the largest."""
    workload = versus.best.cell.workload if claim.up_to else ""
    of = [] if claim.quantity in (STEP, WARM_START) else [quantity_word(claim.quantity)]
    return _(
        "{compared}: {factor}, {count} of {total} workloads",
        compared=", ".join([*of, compared(claim, versus, labels)]),
        factor=" ".join(filter(None, (*factor(versus.shown(claim)), workload))),
        count=versus.agreeing,
        total=versus.factor.n,
    )


def factor(estimate: Estimate) -> tuple[str, str]:
    """Write a factor and its interval, whose ends may be far apart: each to as many digits as it is known."""
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return _digits(estimate.value, WIDE), ""
    digits = NARROW if high < CLOSE * low else WIDE
    between = ";" if decimal_sign() == "," else ","
    return _digits(estimate.value, digits), f"[{_digits(low, digits)}{between} {_digits(high, digits)}]"


def _digits(value: float, digits: int) -> str:
    return fixed(value, max(0, digits - 1 - math.floor(math.log10(value))))


def why_open(found: AnsweredClaim, needed: int) -> str:
    """Say why a claim is open; empty where it has an answer."""
    if found.why is Why.UNSETTLED:
        return printable(found.claim.unsettled or "")
    if found.why is Why.NOT_MEASURED:
        return _("no usable result: {columns}", columns=", ".join(found.missing or found.claim.columns))
    return "" if found.deciding is None or found.why is None else why_versus(found.deciding, needed)


def why_versus(versus: Versus, needed: int) -> str:
    """Say why a comparison has no answer; empty where it has one."""
    if versus.why is Why.FEW:
        workloads = ngettext("{count} workload", "{count} workloads", versus.factor.n)
        pairs = ngettext("{count} pair of processes", "{count} pairs of processes", versus.pairs)
        if versus.shortage is not None:
            return _(
                "{workloads} with {pairs}; an answer takes {needed} pairs", workloads=workloads, pairs=pairs,
                needed=versus.shortage.rounds,
            )  # fmt: skip
        return _(
            "{workloads} with {pairs}; an answer takes {needed} of either", workloads=workloads, pairs=pairs,
            needed=needed,
        )  # fmt: skip
    if versus.why is Why.PART:
        workloads = ngettext("{count} workload", "{count} workloads", versus.factor.n)
        return _("{workloads}; an answer about all takes {needed}", workloads=workloads, needed=needed)
    if versus.why is Why.MIXED:
        return _("the workloads disagree")
    if versus.why is Why.FEW_PAIRS:
        return _few_pairs(versus.shortage)
    if versus.why is Why.UNCERTAIN:
        return _("not certain at {alpha}, corrected for all claims", alpha=percent(ALPHA))
    return _("too close to decide") if versus.why is Why.CLOSE else ""


def _few_pairs(shortage: Shortage | None) -> str:
    """Say how many pairs there are, and how many rounds an answer takes."""
    assert shortage is not None
    pairs = ngettext("{count} pair of processes", "{count} pairs of processes", shortage.pairs)
    said = {"pairs": pairs, "alpha": percent(ALPHA), "rounds": shortage.rounds}
    if shortage.look is not None:
        return _(
            "{pairs}: too few at {alpha}, corrected for all claims and looks; an answer takes {look} rounds, or "
            "{rounds} with a single look (a profile without most_rounds)",
            **said,
            look=shortage.look,
        )
    if shortage.pairs < shortage.rounds:
        return _("{pairs}: too few at {alpha}, corrected for all claims; an answer takes {rounds} rounds", **said)
    return _(
        "{pairs}: too few at {alpha}, corrected for all claims and looks; an answer takes {rounds} rounds with a "
        "single look (a profile without most_rounds)",
        **said,
    )


def rests_on(answers: AnsweredClaims) -> str:
    """Say what an answer rests on; nothing where nothing was compared."""
    if not answers.tests:
        return ""
    certain = ngettext(
        "An answer is certain at {alpha} ({count} exact signed-rank test).",
        "An answer is certain at {alpha}, corrected for all {count} tests (exact signed-rank test, Holm).",
        answers.tests,
        alpha=percent(ALPHA),
    )
    rests = _(
        "It rests on workloads where there are {needed} or more; else on as many pairs of processes in each of them, "
        "and all must agree. Otherwise the claim is open.",
        needed=answers.needed,
    )
    return f"{certain} {rests}"
