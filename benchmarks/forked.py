"""Compares workers that are forked after the import with workers that import by themselves, side by side.

    nox -s benchmarks -- forked [--rounds N] [--environments torch2,jax] [--workload mlp-train/tiny]

Each round measures every cell both ways, in an order that alternates. The table has medians of the rounds' ratios,
forked over own: of the time of a step (the fastest sample), of its median sample, of the first call, and of the peak
memory; a ratio of 1 means that a forked worker publishes what a process of its own would. The last lines have the
seconds that each way took. The goal is a first call and a step within 10 % of each other.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from bench.cell import Cell
from bench.host.environments import venv
from bench.host.executors.events import Event, Finished
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound
from bench.host.executors.local import LocalExecutor
from bench.host.machine.processors import physical_cores
from bench.host.study import study_file
from bench.record import OK, Record

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ("step", "median step", "first call", "peak memory")
WAYS = ("forked", "own")
GOAL = 0.10


def figures(record: Record) -> tuple[float, ...]:
    """Return the figures of one process, in the order of ``FIGURES``."""
    steps = sorted(ns / count for ns, count in zip(record.sample_ns, record.sample_steps, strict=True))
    return steps[0], statistics.median(steps), record.first_call_s or 0.0, record.memory["peak_bytes"] or 1.0


def job(cells: tuple[Cell, ...], environments: dict[str, InstalledEnvironment], number: int, way: str) -> RowJob:
    return RowJob(
        run=f"forked-{way}",
        row_round=RowRound(number, cells[0].row, cells, 1, (0,) * len(cells)),
        environments=environments,
        threads=cells[0].threads,
        samples=20,
        sample_seconds=0.01,
        timeout_s=600.0,
        data_seed=1,
        order_seed=1,
        cache_kept=True,
        forked=way == "forked",
        log_label=way,
    )


def measure(executor: LocalExecutor, one: RowJob) -> tuple[list[Record], float]:
    records: list[Record] = []

    def keep(event: Event) -> None:
        if isinstance(event, Finished):
            records.append(event.record)

    start = time.monotonic()
    executor.run(one, keep)
    return records, time.monotonic() - start


def compare(cells: tuple[Cell, ...], environments: dict[str, InstalledEnvironment], rounds: int) -> bool:
    """Print the table; return whether the goal is met. The first round fills caches and is not counted."""
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        executors = {way: stack.enter_context(contextlib.closing(LocalExecutor(ROOT, Path(place)))) for way in WAYS}
        for number in range(rounds + 1):
            for way in WAYS if number % 2 else WAYS[::-1]:
                records, took = measure(executors[way], job(cells, environments, number, way))
                for record in records:
                    if record.status != OK:
                        raise SystemExit(f"{way}: {record.cell.name}: {record.status}: {record.reason}")
                    if number:
                        found.setdefault((record.cell.column, way), []).append(figures(record))
                if number:
                    seconds[way].append(took)
    rows, met = [], True
    for column in dict.fromkeys(cell.column for cell in cells):
        pairs = zip(found[column, "forked"], found[column, "own"], strict=True)
        ratios = list(zip(*([a / b for a, b in zip(*pair, strict=True)] for pair in pairs), strict=True))
        medians = [statistics.median(values) for values in ratios]
        met = met and all(abs(medians[index] - 1) <= GOAL for index in (0, 2))
        texts = [f"{m:.3f} [{min(v):.2f}, {max(v):.2f}]" for m, v in zip(medians, ratios, strict=True)]
        rows.append([column, *texts, f"{statistics.median(one[2] for one in found[column, 'own']):.3f}"])
    print(tabulate(rows, ["column", *FIGURES, "first call, own / s"], "github", disable_numparse=True))
    for way in WAYS:
        print(f"{way}: {statistics.median(seconds[way]):.1f} s for a row of {len(cells)} cells (median)")
    return met


def main(arguments: list[str]) -> int:
    """Compare; exit 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--environments", default="torch1,torch2,tf2,jax")
    parser.add_argument("--workload", default="mlp-train/tiny")
    options = parser.parse_args(arguments)
    study = study_file.load(ROOT / "matrix.toml")
    workload, size = options.workload.split("/")
    environments, cells = {}, []
    for name in options.environments.split(","):
        environment = study.environments[name]
        environments[name] = InstalledEnvironment.of(venv.prepare(environment, root=ROOT, announce=print), environment)
        cells += [
            Cell(name, environment.framework, mode, workload, size, "float32", "cpu", physical_cores())
            for mode in environment.modes
        ]
    return int(not compare(tuple(cells), environments, options.rounds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
