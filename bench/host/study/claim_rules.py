"""Checks a claim beyond the types of its keys: keys that go together, and columns and workloads that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from .claim import OWN, STEP, Claim, same_environment
from .suggestion import unknown

#: What decides a claim; none of these keys goes with ``unsettled``.
DECIDING = tuple(key for key in Claim.model_fields if key not in ("name", "says", "source", "unsettled"))


def problems(
    values: Mapping[str, Any], environments: Mapping[str, Mapping[str, Any]], known: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    """Give everything that is wrong with a claim.

    ``environments`` are the tables of the study; ``known`` has the values of each coordinate that cells can have.
    """
    if values.get("unsettled") is not None:
        defaults = {key: Claim.model_fields[key].default for key in DECIDING}
        given = [key for key in DECIDING if values.get(key, defaults[key]) != defaults[key]]
        if given:
            yield f"unsettled: nothing decides it; remove {', '.join(given)}; or remove unsettled."
        return
    yield from _missing(values)
    # An environment whose modes are wrong says so; claims about its columns are not wrong as well.
    whole = all("modes" in table for table in environments.values())
    columns = [f"{name}:{mode}" for name, table in environments.items() for mode in table["modes"]] if whole else []
    modes = list(dict.fromkeys(column.partition(":")[2] for column in columns))
    for key in ("columns", "against"):
        for pattern in values.get(key, ()):
            alone = key == "against" and same_environment(pattern)
            yield from _unmatched(key, "mode" if alone else "column", pattern, modes if alone else columns)
    patterns = [("workloads", "workload", pattern) for pattern in values.get("workloads", ())]
    patterns += [(key, key, values.get(key)) for key in ("size", "precision", "device")]
    for key, coordinate, pattern in patterns:
        if pattern is not None:
            yield from _unmatched(key, coordinate, pattern, known[coordinate])
    other = values.get("against_workload")
    if other is not None and other not in known["workload"]:
        yield f"against_workload: {unknown('workload', other, known['workload'])}"


def _missing(values: Mapping[str, Any]) -> Iterator[str]:
    """Give the keys that are missing, or too many, for what is to be compared."""
    if values.get("columns") == ():
        yield 'names no columns; give for example columns = ["jax:jit"], or unsettled with the reason.'
    if values.get("factor", "") is None:
        yield 'factor is missing; give for example factor = ">1", or unsettled with the reason.'
    quantity = values.get("quantity", STEP)
    itself = values.get("against_workload") is not None or quantity in OWN
    if itself and values.get("against"):
        yield "against: the columns are compared with themselves; remove against, or against_workload."
    if not itself and values.get("against") == ():
        yield 'against is missing; give for example against = ["torch2:compile"].'
    if values.get("against_workload") is not None and quantity in OWN:
        yield f"against_workload: quantity {quantity!r} compares the states of a cache; remove one of the two."


def _unmatched(key: str, kind: str, pattern: str, known: Iterable[str]) -> Iterator[str]:
    names = list(known)
    if names and not any(fnmatchcase(name, pattern.removeprefix("!")) for name in names):
        yield f"{key}: {unknown(kind, pattern, names)}"
