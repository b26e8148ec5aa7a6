"""Measures the overhead of the stopwatch with an empty step: the clock per sample, and the loop per step.

    nox -s benchmarks -- timer

The clock is read before and after each sample; its cost must be below 0.1 % of a sample in every profile of
matrix.toml. The loop passes the next batch to the step; its cost is the same for every framework.
"""

from __future__ import annotations

import statistics
import sys

from tabulate import tabulate

from bench.host.project import data
from bench.host.study import study_file
from bench.worker.timing.stopwatch import Stopwatch, looped

REPEATS = 20
SAMPLES = 2_000
STEPS = 1_000
TARGET_SHARE = 0.001


def empty_samples_ns(steps: int, samples: int) -> float:
    """Return the median nanoseconds of a sample of ``steps`` steps that do nothing."""
    stopwatch = Stopwatch(looped(lambda: None, None, each=False), [()] * 4, lambda outputs: None)
    stopwatch.steps = steps
    return statistics.median(stopwatch.turn(samples).sample_ns)


def main() -> int:
    """Print the table; exit 1 where the clock costs more than the target in any profile."""
    clock = [empty_samples_ns(0, SAMPLES) for _ in range(REPEATS)]
    loop = [empty_samples_ns(STEPS, 50) / STEPS for _ in range(REPEATS)]
    clock_ns, loop_ns = statistics.median(clock), statistics.median(loop)
    rows = []
    for name, profile in study_file.load(data("matrix.toml")).profiles.items():
        sample_ns = profile.sample_seconds * 1e9
        rows.append([name, f"{profile.sample_seconds * 1e3:g}", f"{clock_ns:.0f}", f"{100 * clock_ns / sample_ns:.4f}"])
    print(
        tabulate(
            rows, ["profile", "sample / ms", "clock per sample / ns", "share / %"], "github", disable_numparse=True
        )
    )
    print(f"\nThe loop costs {loop_ns:.0f} ns per step (range of {REPEATS}: {min(loop):.0f} to {max(loop):.0f}).")
    return int(any(float(row[3]) >= 100 * TARGET_SHARE for row in rows))


if __name__ == "__main__":
    sys.exit(main())
