"""Runs inside a TensorFlow environment, through server.py: counts what XLA itself says that it compiled.

It returns {workload: [clusters that the adapter counts, executables that XLA wrote to its dump]}.
"""

from __future__ import annotations

import os
import re
import tempfile

import trial


def main(framework, mode, *workloads):
    # XLA reads where to write once in a process.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = "--xla_dump_to=" + folder
        adapter, found = trial.adapter_of(framework, mode), {}
        graphs, executables = 0, 0
        for workload in workloads:
            program, batches = trial.built(adapter, framework, mode, workload)
            program.step(*batches[0])
            counted, written = adapter.compilation()["graphs"], len(dumped(folder))
            found[workload] = [counted - graphs, written - executables]
            graphs, executables = counted, written
    return found


def dumped(folder):
    """Return the modules of clusters that lie in the folder of XLA's dump."""
    return {match.group() for name in os.listdir(folder) if (match := re.match(r"module_\d+\.\w*cluster_\d+", name))}
