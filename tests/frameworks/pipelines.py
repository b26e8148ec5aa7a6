"""Runs inside an environment, through server.py: what an input pipeline delivers, and what it does after a run."""

from __future__ import annotations

import os
import time

import numpy as np
from trial import adapter_of, built, end

from bench.registry import BUILT_IN
from bench.worker import family
from bench.worker.checking import parity

#: Seconds in which a pipeline that worked ahead would be seen to work.
WAIT_S = 0.3


def cpu_s():
    """Return the processor time of this process and of those that it started."""
    found = time.process_time()
    for process in family.descendants(os.getpid()):
        # The clock of a process, see clock_getcpuclockid(3): the kernel's ticks are as long as a test allows.
        found += time.clock_gettime_ns((~process << 3) | 2) / 1e9
    return found


def main(framework):
    """Return the largest error of the last batch of runs of 1 to 4 batches, in two orders; then the time that it works
    after the last run, its settings, and how many processes it has and leaves.
    """
    adapter = adapter_of(framework, "eager")
    program, batches = built(adapter, framework, "eager", "input-pipeline")
    specification = BUILT_IN.specification("input-pipeline")
    size = specification.SIZES["check"]
    parameters, drawn, _ = parity.draw(specification, size, 1)
    exact = {name: value.astype(np.float64) for name, value in parameters.items()}
    errors = []
    for order in ((0, 1, 2, 3), (2, 0, 3, 1)):
        for count in range(1, 5):
            outputs = program.run([batches[index] for index in order[:count]])
            expected = specification.reference(size, exact, drawn[order[count - 1]])
            errors += [float(abs(adapter.get(outputs[name]) - value).max()) for name, value in expected.items()]
    before = cpu_s()
    time.sleep(WAIT_S)
    worked_s, processes = cpu_s() - before, len(program.processes)
    end(program)
    left = family.lasting(os.getpid(), 60.0)
    return [max(errors), worked_s, adapter.settings(), processes, len(left)]
