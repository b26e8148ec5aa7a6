"""Times a kernel with other tools (the peers) and their default settings, and with ours, all in random order."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bench.cell import Cell
from bench.host.environments import Preparation, Prepared, attempt, locks
from bench.host.study import study_file
from bench.host.validation.trial import Trial, TrialData
from bench.host.validation.validation import NUMPY, Validation
from bench.record import OK

from ._kernel import SCATTERED

ROOT = Path(__file__).resolve().parents[1]
#: Returns what a tool finds for a kernel: workload, size, and the number of the repeat.
Tool = Callable[[str, str, int], float]
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ASV = {
    "version": 1,
    "project": "kernels",
    "repo": ".",
    "branches": ["HEAD"],
    "environment_type": "existing",
    "benchmark_dir": "benchmarks",
    "results_dir": "results",
    "html_dir": "html",
}
SUITE = """
import sys
sys.path.insert(0, {root!r})
import importlib.util
found = importlib.util.spec_from_file_location("kernel_source", {source!r})
kernel = importlib.util.module_from_spec(found)
found.loader.exec_module(kernel)

class Suite:
    def setup(self):
        self.step = kernel.make_step({workload!r}, {size!r})

    def time_step(self):
        self.step()
"""


@dataclass(frozen=True)
class Peers:
    """The peers' Python, and the processor they are bound to, as workers are."""

    python: str
    processor: int
    #: Whether each process gets a random memory layout, as workers do.
    scattered: bool = False

    def torch(self, workload: str, size: str) -> float:
        """Time with torch.utils.benchmark's ``blocked_autorange``."""
        output = self._run("-m", "benchmarks._kernel", "torch", workload, size)
        return float(json.loads(output.splitlines()[-1]))

    def pyperf(self, workload: str, size: str) -> float:
        """Time with pyperf's defaults; return the median of its values, which varies less than its mean."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result.json"
            kept = f"--inherit-environ={','.join((*THREADS, SCATTERED))}"
            self._run("-m", "benchmarks._kernel", "pyperf", workload, size, "-o", str(path), "--quiet", kept)
            runs = json.loads(path.read_text())["benchmarks"][0]["runs"]
        values = sorted(value for run in runs for value in run.get("values", ()))
        return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2.0

    def asv(self, workload: str, size: str) -> float:
        """Time with asv's defaults, in an existing environment."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "benchmarks").mkdir()
            (root / "benchmarks" / "__init__.py").touch()
            source = str(ROOT / "benchmarks" / "_kernel.py")
            suite = SUITE.format(root=str(ROOT), source=source, workload=workload, size=size)
            (root / "benchmarks" / "suite.py").write_text(suite)
            (root / "asv.conf.json").write_text(json.dumps(ASV))
            author = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
            for arguments in (("init", "-q", "."), ("add", "-A"), (*author, "commit", "-qm", "kernel")):
                subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
            commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True)
            home = {"HOME": folder}
            self._run("-m", "asv", "machine", "--yes", folder=root, extra=home)
            given = ("-E", f"existing:{self.python}", "--set-commit-hash", commit.stdout.strip())
            self._run("-m", "asv", "run", *given, folder=root, extra=home)
            path = next(root.glob("results/*/*-existing-*.json"))
            return float(json.loads(path.read_text())["results"]["suite.Suite.time_step"][0][0])

    def _run(self, *arguments: str, folder: Path = ROOT, extra: Mapping[str, str] = {}) -> str:
        done = subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env={**os.environ, **THREADS, **({SCATTERED: "1"} if self.scattered else {}), **extra},
            preexec_fn=lambda: os.sched_setaffinity(0, {self.processor}),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(
                f"{' '.join(arguments)}: exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}"
            )
        return done.stdout

    @property
    def all(self) -> dict[str, Callable[[str, str], float]]:
        return {"torch.utils.benchmark": self.torch, "pyperf": self.pyperf, "asv": self.asv}


def prepare(processor: int, *, scattered: bool = False) -> Peers:
    """Build the peers' environment. Raises RuntimeError with the reason where that is not possible."""
    prepared = attempt(locks.own_environment("peers", ROOT), Preparation(ROOT, print))
    if prepared.status != OK:
        raise RuntimeError(f"the peers' environment: {prepared.status}: {prepared.reason}")
    return Peers(prepared.command[0], processor, scattered)


def ours(python: str) -> Callable[[str, str, int], TrialData]:
    """Return a function that compares a kernel with itself as a study does, in the environment of ``python``."""
    study = study_file.load(ROOT / "matrix.toml")
    session = Validation(ROOT, study, {}, 1, Console(quiet=True), numpy=Prepared("numpy", OK, command=(python,)))

    def measure(workload: str, size: str, number: int) -> TrialData:
        cell = Cell("numpy", NUMPY.framework, "eager", workload, size, "float32", "cpu", 1)
        return session.trial_measurement.measure(Trial(number, cell, 0.0))

    return measure


def repeat(tools: Mapping[str, Tool], workload: str, size: str, repeats: int) -> Iterator[tuple[str, float, float]]:
    """Use every tool so many times, in random order; yield its name, what it found, and the seconds that it took."""
    for number in range(repeats):
        order = list(tools)
        random.Random(number).shuffle(order)
        for name in order:
            began = time.monotonic()
            found = tools[name](workload, size, number)
            yield name, found, time.monotonic() - began
        print(f"{workload}/{size}: {number + 1} of {repeats}", file=sys.stderr, flush=True)
