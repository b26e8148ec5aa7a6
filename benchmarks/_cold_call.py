"""Times single steps of a program in its framework, some of them after other data has passed through the caches.

    python _cold_call.py FRAMEWORK MODE CALLS

It prints one line of JSON: {MiB of other data: seconds of every call}. Time is the CPU time of the process: it leaves
out what other programs did meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np

from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.timing.timed_program import run_of

#: A product of 16 x 16 matrices is next to no work, so that its time is that of the call.
WORKLOAD, SIZE = "gemm", "check"
OTHER_MIB = (0, 1, 3, 8)
WARM = 200


def main(framework: str, mode: str, calls: int) -> dict[int, list[float]]:
    """Return the seconds of the calls."""
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", 1)
    specification = BUILT_IN.specification(WORKLOAD)
    size = specification.SIZES[SIZE]
    drawn, batches, _ = parity.draw(specification, size, 1)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    batch = tuple(adapter.put(array) for array in batches[0])
    transform = Transform.of(BUILT_IN.facts(framework).mode(mode), adapter.transform)
    program = BUILT_IN.implementation(WORKLOAD, framework)(size, parameters, batch, transform)
    run, _ = run_of(program, adapter, "cpu")
    for _ in range(WARM):
        adapter.synchronize(run([batch]))
    others = {mib: np.zeros(mib << 17) for mib in OTHER_MIB}
    seconds: dict[int, list[float]] = {mib: [] for mib in OTHER_MIB}
    for number in range(calls):
        for mib, other in others.items():
            other.fill(number)
            start = time.process_time()
            adapter.synchronize(run([batch]))
            seconds[mib].append(time.process_time() - start)
    return seconds


if __name__ == "__main__":
    # XLA has a thread for every processor that the process may use.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("\n" + json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
