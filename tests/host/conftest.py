"""Provides a small synthetic study with every status, for the tests of the tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.cell import Cell
from bench.host.storage import lines
from bench.host.storage.manifest import Manifest
from bench.host.study.twin import SUFFIX
from bench.record import (
    FAILED,
    MISMATCH,
    OK,
    OUT_OF_MEMORY,
    TIMEOUT,
    UNSUPPORTED,
    Record,
)

COLUMNS = {
    "torch1": ("torch", ("eager", "torchscript")),
    "torch2": ("torch", ("eager", "compile")),
    "tf2": ("tensorflow", ("eager", "xla")),
    "jax": ("jax", ("eager", "jit")),
}
#: Seconds per step at the baseline, and what a step processes.
WORKLOADS = {"dispatch": (2e-5, "step"), "mlp-train": (1.2e-3, "row"), "catdog-cnn-train": (0.31, "image")}
FACTORS = (1.0, 0.93, 1.07, 0.71, 1.9, 0.8, 3.1, 0.55)


class Study:
    """Records and run of a study; what a test changes, it changes before it reports."""

    def __init__(self, rounds: int, samples: int = 12) -> None:
        self.cells = [
            Cell(environment, framework, mode, workload, "small", "float32", "cpu", 2)
            for workload in WORKLOADS
            for environment, (framework, modes) in COLUMNS.items()
            for mode in modes
        ]
        random = np.random.default_rng(7)
        self.samples = samples
        self.moods = moods = random.lognormal(0.0, 0.1, rounds)
        self.records = [
            make_record(cell, number, samples, FACTORS[i % len(FACTORS)] * moods[number], random)
            for number in range(rounds)
            for i, cell in enumerate(self.cells)
        ]
        self.run: dict[str, Any] = {
            "run": "2026-11-21-1",
            "study": {
                "name": "torch1-torch2",
                "title": "PyTorch 1 and 2, TensorFlow and JAX",
                "baseline": "torch1:eager",
            },
            "profile": {"name": "quick"},
            "seed": 0,
            "threads": 2,
            "machine": {"processor": "AMD EPYC 7B13", "gpus": []},
            "environments": {"torch1": {"python": "3.10.13"}},
            "planned": [cell.to_json() for cell in self.cells],
            "excluded": [],
            "finished": True,
        }

    @property
    def manifest(self) -> Manifest:
        return Manifest.from_json(self.run)

    def store(self, folder: Path) -> None:
        """Write the run and its records, in place of those that are there."""
        (folder / "run.json").write_text(json.dumps(self.manifest.to_json()))
        (folder / "records.jsonl").write_text("".join(lines.sealed(record.to_json()) for record in self.records))

    def find(self, column: str, workload: str) -> Cell:
        return next(cell for cell in self.cells if cell.column == column and cell.workload == workload)

    def change(self, column: str | None = None, workload: str | None = None, **values: Any) -> None:
        """Set fields of the records of a column, of a workload or of both; a function gets the record."""
        self.records = [
            replace(r, **{name: value(r) if callable(value) else value for name, value in values.items()})
            if (column is None or r.cell.column == column) and (workload is None or r.cell.workload == workload)
            else r
            for r in self.records
        ]

    def slow(self, column: str, workload: str, factor: float) -> None:
        """Make a cell slower."""
        self.change(column, workload, sample_ns=lambda r: [round(ns * factor) for ns in r.sample_ns])

    def add_twin(self, factor: float = 1.0) -> None:
        """Measure the baseline twice, the second time ``factor`` times as slow."""
        column = self.run["study"]["baseline"]
        random = np.random.default_rng(8)
        for cell in self.cells:
            if cell.column == column:
                twin = replace(cell, environment=cell.environment + SUFFIX)
                self.run["planned"].append(twin.to_json())
                self.records += [
                    make_record(twin, number, self.samples, factor * mood, random)
                    for number, mood in enumerate(self.moods)
                ]

    def stop(self, rounds: int, why: str) -> None:
        """Let all rows stop after so many rounds; later records, if any, stay."""
        self.run["stopped"] = {cell.row: {"rounds": rounds, "why": why} for cell in self.cells}

    def end(
        self, column: str, workload: str, status: str, stage: str, reason: str, rounds: tuple[int, ...] = ()
    ) -> None:
        """Let the processes of a cell end badly, in ``rounds`` or in all of them."""
        cell = self.find(column, workload)
        self.records = [
            replace(r, status=status, stage=stage, reason=reason, sample_ns=[], sample_cpu_ns=[], sample_turn=[])
            if r.cell == cell and (not rounds or r.round in rounds)
            else r
            for r in self.records
        ]

    def disturb(self, column: str, workload: str, round: int = 0) -> None:
        """Let two samples of three take a hundred times as long in one process of a cell."""
        cell = self.find(column, workload)
        self.records = [
            replace(r, sample_ns=[ns * (100 if i % 3 else 1) for i, ns in enumerate(r.sample_ns)])
            if r.cell == cell and r.round == round
            else r
            for r in self.records
        ]

    def drop(self, column: str, workload: str) -> None:
        """Forget all records of a cell."""
        cell = self.find(column, workload)
        self.records = [record for record in self.records if record.cell != cell]

    def exclude(self, column: str, workload: str, reason: str) -> None:
        """Leave a cell out of the plan."""
        self.drop(column, workload)
        cell = self.find(column, workload).to_json()
        self.run["planned"].remove(cell)
        self.run["excluded"].append([cell, reason])


def make_record(cell: Cell, number: int, samples: int, factor: float, random: np.random.Generator) -> Record:
    step_s, item = WORKLOADS[cell.workload]
    steps = max(1, round(0.02 / step_s))
    sample_ns = np.round(random.lognormal(0.0, 0.02, samples) * factor * step_s * steps * 1e9).astype(int)
    return Record(
        cell,
        number,
        1,
        OK,
        run="2026-11-21-1",
        started_at=1_795_219_200.0 + number,
        import_s=1.2,
        first_call_s=11.3 if cell.mode == "compile" else 0.04,
        first_call_cache="cold" if number == 0 else "warm",
        sample_steps=[steps] * samples,
        sample_ns=sample_ns.tolist(),
        sample_cpu_ns=(2 * sample_ns).tolist(),
        sample_turn=(np.arange(samples) // 3).tolist(),
        memory={"peak_bytes": 150 * 2**20, "baseline_bytes": 200 * 2**20},
        settings={"threads": 2, "instruction set": "AVX2" if cell.environment == "torch1" else "AVX512"},
        versions={
            "python": "3.11.7",
            "numpy": "2.4.6",
            cell.framework: "1.13.1" if cell.environment == "torch1" else "2.15.0",
        },
        work={"useful_flops": 1e8, "compulsory_bytes": 1e6, "items": 64, "item": item},
        data="seeded synthetic images" if cell.workload == "catdog-cnn-train" else None,
    )


def with_every_status(study: Study) -> Study:
    """Plant every way in which a cell can fail to have a number."""
    study.end("torch2:compile", "dispatch", TIMEOUT, "first-call", "no answer in 300 s")
    study.end("tf2:eager", "dispatch", FAILED, "measure", "killed by SIGSEGV; last words: [core] <dumped>", (1,))
    study.end("tf2:xla", "mlp-train", MISMATCH, "check", "loss errs by 3.1e-2; 1e-5 is allowed")
    study.end("jax:eager", "catdog-cnn-train", OUT_OF_MEMORY, "build", "RESOURCE_EXHAUSTED: 6_871_947_674 bytes")
    study.end(
        "tf2:eager", "catdog-cnn-train", UNSUPPORTED, "environment", "no wheel of tensorflow-cpu for this platform"
    )
    study.exclude("torch1:torchscript", "catdog-cnn-train", "the published study did not use it")
    study.drop("jax:jit", "catdog-cnn-train")
    study.run["finished"] = False
    return study


@pytest.fixture
def short_study() -> Study:
    """Three rounds, every status."""
    return with_every_status(Study(3))


@pytest.fixture
def long_study() -> Study:
    """Ten rounds, all well: enough pairs for verdicts."""
    return Study(10)
