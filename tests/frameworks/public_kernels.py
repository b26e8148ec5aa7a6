"""Runs inside an environment, through server.py: compares public implementations with ours, and plants a wrong one.

It returns {workload: [what may be timed, how the others differ]}, with the planted one as workload ``planted``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "public_steps"))

import alternate

PLANTED = "scatter-add"


def compared(framework, mode, workload):
    prepared = alternate.prepare(framework, mode, workload, "check")
    return [list(prepared.runs), prepared.differing]


def plant(framework):
    """Give a workload another public kernel, whose outputs are a thousandth too small."""
    functions = importlib.import_module("kernels_" + framework).FUNCTIONS
    make = functions[PLANTED]

    def planted(*given):
        found = make(*given)
        right = next(iter(found.values()))
        return {**found, "planted": lambda *batch: 0.999 * right(*batch)}

    functions[PLANTED] = planted


def main(framework, mode, *workloads):
    found = {workload: compared(framework, mode, workload) for workload in workloads}
    if importlib.util.find_spec("kernels_" + framework) is None:
        return dict(found, planted=[])
    plant(framework)
    return dict(found, planted=compared(framework, mode, PLANTED))
