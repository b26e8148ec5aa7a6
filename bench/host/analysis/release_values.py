"""Finds what is compared of a version: the time of a step, of a first call and of an import, memory, and disk."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum

import numpy as np

from bench.record import OK, Record

from ..statistics.bootstrap import Estimate, estimate_median
from ..statistics.location import FloatArray
from .results import Result

#: {(round, attempt): value}: processes with the same key ran in the same round.
Values = dict[Hashable, float]


class Quantity(Enum):
    """What is compared; the values are those of ``versions.csv``."""

    STEP = "step_s"
    COLD_CALL = "cold_call_s"
    WARM_CALL = "warm_call_s"
    MEMORY = "peak_bytes"
    IMPORT = "import_s"
    DISK = "disk_bytes"

    @property
    def of_environment(self) -> bool:
        """Tell whether an environment has one value, whatever it computes."""
        return self in (Quantity.IMPORT, Quantity.DISK)

    @property
    def is_time(self) -> bool:
        return self.value.endswith("_s")


def first_calls(result: Result, cache: str) -> Values:
    """Return the seconds of the first calls with a ``cold`` or ``warm`` cache."""
    return _of(result, lambda r: r.first_call_s if (r.first_call_cache or "cold") == cache else None)


def peaks(result: Result) -> Values:
    """Return the peak bytes of the steps."""
    on_gpu = result.cell.device == "gpu"
    return _of(result, lambda r: r.memory.get("allocated_peak_bytes" if on_gpu else "peak_bytes"))


def imports(results: Iterable[Result]) -> dict[bool, Values]:
    """Return {whether it ran alone: seconds of the import in each round} of the cells of one environment."""
    found: dict[bool, dict[Hashable, list[float]]] = {}
    for result in results:
        for record in result.records:
            if record.import_s is not None and record.import_s > 0:
                found.setdefault(record.import_alone, {}).setdefault((record.round, 0), []).append(record.import_s)
    return {alone: {key: float(np.median(each)) for key, each in rounds.items()} for alone, rounds in found.items()}


def _of(result: Result, value: Callable[[Record], float | None]) -> Values:
    """Return a positive value of each process that ended well."""
    found = {(record.round, record.attempt): value(record) for record in result.records if record.status == OK}
    return {key: float(one) for key, one in found.items() if one is not None and one > 0}


def estimated(values: Values) -> Estimate | None:
    """Return the median over processes with its interval; None of nothing."""
    return estimate_median(np.array(list(values.values()))) if values else None


def paired(values: Values, others: Values) -> tuple[list[Hashable], FloatArray]:
    """Return the keys that both have, and the logarithm of the ratio of each pair."""
    keys = sorted(set(values) & set(others), key=repr)
    return keys, np.array([math.log(values[key] / others[key]) for key in keys])


def disk_bytes(environment: Mapping[str, object] | None) -> float | None:
    """Return what an environment takes on the disk; None where that is not known."""
    size = (environment or {}).get("size_bytes")
    return float(size) if isinstance(size, int | float) and size > 0 else None
