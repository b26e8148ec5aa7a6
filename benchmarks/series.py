"""Measures the time of ``series`` and ``compare`` over a long history, in processes of their own.

    nox -s benchmarks -- series [RUNS] [CELLS]

The history is synthetic and seeded: 2,000 runs of 200 cells by default, with ten processes each; a third of the cells
of one environment become 6 % slower after three quarters of the runs. The table has wall and CPU seconds from start to
exit, and peak memory. The target is 5 seconds.
"""

from __future__ import annotations

import datetime
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.host.storage import run_summary  # noqa: E402
from bench.host.storage.run_summary import CellSummary, RunFacts, RunSummary  # noqa: E402

RUNS, CELLS, PROCESSES = 2000, 200, 10
ENVIRONMENTS = ("torch1", "torch2", "tf2", "jax")
SLOWER, AT = math.log(1.06), 0.75
TARGET_S = 5.0
#: Settings and packages of an environment: as many as real runs have.
SETTINGS, PACKAGES = 24, 40


def write_history(folder: Path, runs: int, cells: int) -> list[Path]:
    """Write a history into a folder; return the files of its runs."""
    random = np.random.default_rng(1)
    names = [(f"{ENVIRONMENTS[i % 4]}:eager", f"workload-{i // 4}/small/float32/cpu") for i in range(cells)]
    settings = [{f"setting {k}": str((k * i) % 7) for k in range(SETTINGS)} for i in range(8)]
    return [
        run_summary.write(folder, _run(number, number >= AT * runs, names, settings, random)) for number in range(runs)
    ]


def _run(
    number: int,
    late: bool,
    names: list[tuple[str, str]],
    settings: list[dict[str, str]],
    random: np.random.Generator,
) -> RunSummary:
    day = datetime.date(2022, 1, 1) + datetime.timedelta(days=number)
    mood = random.normal(0.0, 0.02)
    levels = [SLOWER if late and i % 12 == 1 else 0.0 for i in range(len(names))]
    times = np.exp(np.log(1e-3) + mood + np.array(levels)[:, np.newaxis] + random.normal(0, 0.02, (len(names), 10)))
    ratios = np.array(levels)[:, np.newaxis] + random.normal(0.0, 0.01, (len(names), PROCESSES))
    cells = tuple(
        CellSummary(
            column=column,
            row=row,
            threads=2,
            step_s=[float(f"{value:.6g}") for value in times[i].tolist()],
            log_ratios=[round(value, 6) for value in ratios[i].tolist()],
            settings=i % len(settings),
        )
        for i, (column, row) in enumerate(names)
    )
    version = "2.15.0" if late else "2.14.0"
    packages = {name: {"torch": version, **{f"package-{k}": "1.2.3" for k in range(PACKAGES)}} for name in ENVIRONMENTS}
    facts = RunFacts(
        run=f"{day.isoformat()}-{number:05d}",
        started=f"{day.isoformat()} 03:17:00",
        machine={"processor": "synthetic", "processors": 2},
        baseline="torch1:eager",
        environments=packages,
        settings=settings,
    )
    return RunSummary(facts, cells)


def measure(*arguments: str) -> tuple[float, float]:
    """Run a command of the host; return its wall and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "bench.host", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu_s


def main() -> int:
    runs, cells = (
        (int(text) for text in (*sys.argv[1:], RUNS, CELLS)[:2]) if len(sys.argv) < 3 else map(int, sys.argv[1:3])
    )
    with tempfile.TemporaryDirectory() as place:
        files = write_history(Path(place), runs, cells)
        size = sum(path.stat().st_size for path in files)
        print(f"{runs} runs of {cells} cells, {size / 1e6:.0f} MB")
        print("| command | wall s | CPU s |\n|---|---|---|")
        slow = False
        for name, given in {
            "series": ("series", "--folder", place),
            "series --relative": ("series", "--folder", place, "--relative"),
            "compare": ("compare", str(files[-2]), str(files[-1])),
        }.items():
            wall_s, cpu_s = measure(*given)
            slow = slow or cpu_s > TARGET_S
            print(f"| {name} | {wall_s:.1f} | {cpu_s:.1f} |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"\npeak memory {peak / 2**20:.0f} MiB; target {TARGET_S:g} CPU s: {'missed' if slow else 'met'}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
