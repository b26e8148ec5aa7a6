"""Finds what is compared of a version: the time of a step, of a first call and of an import, memory, and disk."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from enum import Enum

import numpy as np

from ..statistics.bootstrap import Estimate, estimate_median
from ..statistics.location import FloatArray
from .process_values import Values
from .results import Result


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


def imports(results: Iterable[Result]) -> dict[bool, Values]:
    """Return {whether it ran alone: seconds of the import in each round} of the cells of one environment."""
    found: dict[bool, dict[Hashable, list[float]]] = {}
    for result in results:
        for record in result.records:
            if record.import_s is not None and record.import_s > 0:
                found.setdefault(record.import_alone, {}).setdefault((record.round, 0), []).append(record.import_s)
    return {alone: {key: float(np.median(each)) for key, each in rounds.items()} for alone, rounds in found.items()}


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
