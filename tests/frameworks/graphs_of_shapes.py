"""Runs inside an environment, through server.py: counts what is compiled for shapes that change within a step.

It returns {workload: [graphs after the first step, compilations after the first step, compilations after three more]}.
"""

from __future__ import annotations

import trial


def main(framework, mode, *workloads):
    found = {}
    for workload in workloads:
        adapter = trial.adapter_of(framework, mode)
        before = adapter.compilation()
        program, batches = trial.built(adapter, framework, mode, workload)
        program.step(*batches[0])
        first = adapter.compilation()
        for batch in (batches * 3)[:3]:
            program.step(*batch)
        steady = adapter.compilation()
        counts = [one.get("compilations", 0) - before.get("compilations", 0) for one in (first, steady)]
        found[workload] = [first.get("graphs", 0) - before.get("graphs", 0), *counts]
    return found
