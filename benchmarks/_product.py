"""Times products of square float32 matrices in one framework.

    python _product.py FRAMEWORK SIDE PRODUCTS

It prints the median seconds of one product, on one thread.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import numpy as np

from bench.registry import BUILT_IN

WARM = 10


def main(framework: str, side: int, products: int) -> float:
    """Return the median seconds of a product, waited for each time, in the first mode of the framework."""
    # XLA has a thread for every processor that the process may use.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    mode = BUILT_IN.facts(framework).modes[0].name
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", 1)
    drawn = np.random.default_rng(1).standard_normal((2, side, side), dtype=np.float32)
    left, right = (adapter.put(matrix) for matrix in drawn)
    seconds = []
    for _ in range(WARM + products):
        start = time.perf_counter()
        adapter.synchronize(left @ right)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[WARM:])


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
