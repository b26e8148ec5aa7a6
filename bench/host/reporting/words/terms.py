"""Translates the fixed words of records for the reader: statuses, verdicts, warm-up classes, items.

A word that is not known here, such as a plug-in's item, is shown as it is.
"""

from __future__ import annotations

from collections.abc import Container

from bench.record import FAILED, MISMATCH, OK, OUT_OF_MEMORY, TIMEOUT, UNSUPPORTED

from ...analysis.results import EXCLUDED, NOT_RUN
from ...analysis.warmups import WarmUp
from ...statistics.verdict import Verdict
from ...statistics.warmup import FEWEST, WarmupClass
from .language import _, ngettext, translated, word

#: Statuses that are not a fault.
EXPECTED = (OK, UNSUPPORTED, NOT_RUN, EXCLUDED)

STATUS_WORDS = {
    OK: word("ok"),
    MISMATCH: word("mismatch"),
    FAILED: word("failed"),
    TIMEOUT: word("timeout"),
    OUT_OF_MEMORY: word("out-of-memory"),
    UNSUPPORTED: word("unsupported"),
    NOT_RUN: word("not run"),
    EXCLUDED: word("excluded"),
}

VERDICT_WORDS = {
    Verdict.DIFFERENT: word("different"),
    Verdict.EQUIVALENT: word("equivalent"),
    Verdict.INCONCLUSIVE: word("inconclusive"),
}

#: What a step processes, in the plural.
ITEM_WORDS = {
    "item": word("items"),
    "step": word("steps"),
    "row": word("rows"),
    "image": word("images"),
    "operation": word("operations"),
    "element": word("elements"),
    "product": word("products"),
    "sequence": word("sequences"),
    "token": word("tokens"),
}

WARM_UP_WORDS = {
    WarmupClass.FLAT: word("flat"),
    WarmupClass.WARM_UP: word("warm-up"),
    WarmupClass.SLOWDOWN: word("slowdown"),
    WarmupClass.NO_STEADY_STATE: word("no steady state"),
    WarmupClass.TOO_SHORT: word("too short"),
}


def status_word(status: str) -> str:
    """Name a status."""
    return translated(STATUS_WORDS[status]) if status in STATUS_WORDS else status


def verdict_word(verdict: Verdict) -> str:
    """Name a verdict."""
    return translated(VERDICT_WORDS[verdict])


def items_word(item: str) -> str:
    """Name what a step processes, in the plural."""
    return translated(ITEM_WORDS[item]) if item in ITEM_WORDS else f"{item}s"


def rounds(count: int) -> str:
    return ngettext("{count} round", "{count} rounds", count)


def enumerate_names(names: list[str]) -> str:
    """Write ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def enumerate_alternatives(names: list[str]) -> str:
    """Write ``a, b or c``."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} or {last}", names=", ".join(names[:-1]), last=names[-1])


def warm_up_word(kind: WarmupClass) -> str:
    """Name a class of warm-up."""
    return translated(WARM_UP_WORDS[kind])


def warm_up_meanings(present: Container[WarmupClass]) -> str:
    """Name the classes of warm-up that are ``present``, and say what each means."""
    meanings = {
        WarmupClass.FLAT: _("flat: steady from the first trial on"),
        WarmupClass.WARM_UP: _("warm-up: slower at first"),
        WarmupClass.SLOWDOWN: _("slowdown: faster at first"),
        WarmupClass.NO_STEADY_STATE: _("no steady state: changing until the end"),
        WarmupClass.TOO_SHORT: _("too short: fewer than {fewest} trials and samples", fewest=FEWEST),
    }
    return "; ".join(meaning for kind, meaning in meanings.items() if kind in present)


def format_warm_up(found: WarmUp | None) -> str:
    """Write how many processes have which class: ``flat 9, no steady state 1``."""
    return "" if found is None else ", ".join(f"{warm_up_word(kind)} {number}" for kind, number in found.classes)
