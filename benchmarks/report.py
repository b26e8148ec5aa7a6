"""Measures the time and memory of a report: reading the records, statistics and all files, in its own process.

    nox -s benchmarks -- report [samples …] [CELLSxROUNDSxSAMPLES …]

The records are synthetic and seeded: 100 cells and the twins of 10, in 20 rounds, with the given number of samples in
total; or so many cells, rounds and samples of a process as given, such as 10000x4x25. The table has wall seconds from
start to exit, CPU seconds, CPU seconds per million samples, and the peak memory of both processes that write the files:
what they share counts once.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.cell import Cell  # noqa: E402
from bench.host.study.twin import with_twin  # noqa: E402
from bench.record import OK, TIMEOUT, Record  # noqa: E402

COLUMNS = {
    "torch1": ("torch", ("eager", "torchscript")),
    "torch2": ("torch", ("eager", "compile")),
    "tf2": ("tensorflow", ("eager", "function", "xla")),
    "jax": ("jax", ("eager", "jit")),
    "jax-previous": ("jax", ("jit",)),
}
WORKLOADS = (
    "dispatch", "gemm", "elementwise-chain", "layernorm-softmax", "mlp-train", "lenet-train", "catdog-cnn-train",
    "transformer-encoder", "transformer-train", "gemm-batched",
)  # fmt: skip
ROUNDS = 20
SAMPLES_PER_TURN = 5
TRIALS = 8
LOOKS = [12, 18, 27, 40]
SIZES = (100_000, 300_000, 1_000_000)
TARGET_S, LARGE_S = 5.0, 15.0
BASELINE = "torch1:eager"

REPORT = """
import io, sys
from pathlib import Path
from rich.console import Console
from bench.host import garbage_collection
from bench.host.reporting import report
from bench.host.storage import journal, manifest

@garbage_collection.paused()
def run(folder):  # as the command does
    records, described = journal.read(folder), manifest.read(folder)
    made = report.make(records, described)
    made.write(folder)
    made.print(Console(file=io.StringIO(), width=160))

run(Path(sys.argv[1]))
"""
#: Seconds between two looks at the memory, each of which takes a few milliseconds.
LOOK_S = 0.2


def cells(count: int = 100) -> list[Cell]:
    copies = [f"{workload}-{copy}" if copy else workload for copy in range(-(-count // 100)) for workload in WORKLOADS]
    return [
        Cell(environment, framework, mode, workload, "small", "float32", "cpu", 2)
        for workload in copies
        for environment, (framework, modes) in COLUMNS.items()
        for mode in modes
    ]


def synthesise(cell: Cell, number: int, samples: int, step_s: float, random: np.random.Generator) -> Record:
    """Return the record of one process, with log-normal step times and a drift that is common to the round."""
    drift = 1.0 + 0.1 * np.sin(np.arange(samples) / 7.0 + number)
    process = random.lognormal(0.0, 0.01)
    steps = max(1, round(0.02 / step_s))
    sample_ns = np.round(steps * step_s * 1e9 * process * drift * random.lognormal(0.0, 0.03, samples)).astype(int)
    return Record(
        cell, number, 1, OK, run="synthetic", started_at=1_795_000_000.0 + number, import_s=1.5,
        first_call_s=50 * step_s, first_call_cache="cold" if number == 0 else "warm", sample_steps=[steps] * samples,
        sample_ns=sample_ns.tolist(), sample_cpu_ns=(2 * sample_ns).tolist(),
        sample_turn=(np.arange(samples) // SAMPLES_PER_TURN).tolist(),
        warmup_ns=(step_s * 1e9 * process * (1.0 + np.exp(-np.arange(TRIALS)))).astype(int).tolist(),
        disturbed={"3": "torch1:eager waited 30% of it for a processor"} if number == 3 else {},
        memory={"peak_bytes": int(random.integers(1e8, 2e8)), "baseline_bytes": 2 * 10**8},
        settings={"threads": 2, "instruction set": "AVX2" if cell.environment == "torch1" else "AVX512"},
        versions={"python": "3.11.7", "numpy": "1.26.4", cell.framework: "1.0"},
        work={"useful_flops": 1e9, "compulsory_bytes": 1e7, "items": 64, "item": "image"},
    )  # fmt: skip


def write_study(folder: Path, samples: int, count: int = 100, rounds: int = ROUNDS) -> int:
    """Write the files of a run with about ``samples`` samples of ``count`` cells; return how many there are."""
    random = np.random.default_rng(20261121)
    planned = with_twin(cells(count), BASELINE)
    each = max(1, samples // (len(planned) * rounds))
    medians = dict(zip(planned, random.lognormal(np.log(1e-3), 1.5, len(planned)), strict=True))
    with (folder / "records.jsonl").open("w") as file:
        for number in range(rounds):
            for cell in planned[:-1]:
                file.write(json.dumps(synthesise(cell, number, each, medians[cell], random).to_json()) + "\n")
        lost = Record(planned[-1], 0, 1, TIMEOUT, stage="build", reason="no answer in 300 s", run="synthetic")
        file.write(json.dumps(lost.to_json()) + "\n")
    run: dict[str, Any] = {
        "run": "synthetic",
        "study": {"name": "synthetic", "title": "Synthetic study", "baseline": BASELINE},
        "profile": {"name": "publication", "samples": each // SAMPLES_PER_TURN},
        "looks": LOOKS if rounds == ROUNDS else [rounds],
        "stopped": {cell.row: {"rounds": rounds, "why": "budget"} for cell in planned},
        "peaks": {"torch1/cpu": {"flops_per_s": {"float32": 1e11}, "bandwidths": [[1e6, 1e11], [1e9, 2e10]]}},
        "seed": 0,
        "threads": 2,
        "machine": {"processor": "Synthetic processor"},
        "environments": {},
        "planned": [cell.to_json() for cell in planned],
        "excluded": [],
        "finished": True,
    }
    (folder / "run.json").write_text(json.dumps(run))
    return each * rounds * (len(planned) - 1)


def measure(samples: int, *shape: int) -> tuple[int, float, float, int]:
    """Report about ``samples`` samples; return their actual number, wall and CPU seconds, and peak bytes.

    ``shape`` is the number of cells and of rounds.
    """
    with tempfile.TemporaryDirectory() as name:
        written = write_study(Path(name), samples, *shape)
        start, start_cpu = time.perf_counter(), children_cpu_s()
        process = subprocess.Popen([sys.executable, "-c", REPORT, name], cwd=ROOT)
        peak_bytes = 0
        while process.poll() is None:
            peak_bytes = max(peak_bytes, memory_bytes(process.pid))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_S)
        wall_s, cpu_s = time.perf_counter() - start, children_cpu_s() - start_cpu
        if process.returncode:
            raise SystemExit(process.returncode)
        return written, wall_s, cpu_s, peak_bytes


def memory_bytes(process: int) -> int:
    """Return the memory of a process and its copies; a page that they share counts once."""
    found = 0
    with contextlib.suppress(OSError):  # it ended meanwhile
        own = Path(f"/proc/{process}")
        copies = (own / f"task/{process}/children").read_text().split()
        for one in (own, *(Path(f"/proc/{copy}") for copy in copies)):
            shares = re.search(r"^Pss:\s+(\d+)", (one / "smaps_rollup").read_text(), re.MULTILINE)
            found += int(shares[1]) * 1024 if shares else 0
    return found


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where the largest report misses the target."""
    print("| samples | seconds | CPU seconds | CPU seconds per million | peak MiB |")
    print("|--------:|--------:|------------:|------------------------:|---------:|")
    missed = False
    for argument in arguments or SIZES:
        numbers = [int(number) for number in str(argument).split("x")]
        cells_of = numbers[:2] if len(numbers) > 1 else []
        written, seconds, cpu_s, peak_bytes = measure(math.prod(numbers), *cells_of)
        missed |= seconds >= (LARGE_S if cells_of else TARGET_S)
        million = cpu_s / written * 1e6
        print(f"| {written:,} | {seconds:.2f} | {cpu_s:.2f} | {million:.2f} | {peak_bytes / 2**20:.0f} |", flush=True)
    print(f"\nTargets: 1,000,000 samples in under {TARGET_S:g} s, growing linearly; of 10,000 cells, in {LARGE_S:g} s.")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
