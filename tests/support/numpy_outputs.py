"""Computes a workload's outputs twice: with its implementation in NumPy, and with its specification in float64."""

from __future__ import annotations

import numpy as np

from bench.frameworks.numpy.adapter import Adapter
from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.checking.comparison import relative_error

__all__ = ["implemented", "relative_error"]


def implemented(workload: str, preset: str, precision: str) -> tuple[dict, dict]:
    """Return the outputs of NumPy's implementation at ``precision`` and those that are expected, by their names."""
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[preset]
    parameters, batches, _ = parity.draw(specification, size, 1)
    adapter = Adapter("eager", "cpu", precision, 1)
    placed = {name: adapter.put(value) for name, value in parameters.items()}
    given = [tuple(adapter.put(array) for array in batch) for batch in batches]
    build = BUILT_IN.implementation(workload, "numpy")
    program = build(size, placed, given[0], Transform("eager", adapter.transform))
    initial = dict(parameters, **parity.initial_state(specification, size))
    found = parity.program_outputs(program, given, adapter.get, initial)
    return found, parity.expected_outputs(specification, size, parameters, batches, np.float64)
