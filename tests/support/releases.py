"""Makes the records of a run over the versions of a family, with planted changes from version to version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.cell import Cell
from bench.host.storage.manifest import Manifest
from bench.record import FAILED, OK, Record

VERSIONS = ("1.9.0", "1.10.0", "1.11.0", "2.0.0")
MEMBERS = {f"torch-{version}": ("torch", version) for version in VERSIONS}
STEP_S = {"gemm": 1.2e-3, "mlp-train": 4e-3}


class Releases:
    """A run of a family; what a test changes, it changes before it reports."""

    def __init__(
        self,
        factors: Mapping[str, Sequence[float]],
        *,
        rounds: int = 16,
        modes: Sequence[str] = ("eager",),
        noise: float = 0.002,
        seed: int = 3,
    ) -> None:
        random = np.random.default_rng(seed)
        moods = random.lognormal(0.0, 0.1, rounds)
        self.cells = [
            Cell(f"torch-{version}", "torch", mode, workload, "small", "float32", "cpu", 2)
            for workload in factors
            for version in VERSIONS
            for mode in modes
        ]
        self.records = [
            make_record(cell, number, _factor(factors, cell) * moods[number] * random.lognormal(0.0, noise), random)
            for number in range(rounds)
            for cell in self.cells
        ]
        self.run: dict[str, Any] = {
            "run": "2026-11-22-1",
            "study": {"name": "versions", "title": "Versions", "baseline": "torch-1.9.0:eager"},
            "profile": {"name": "history", "samples": 4},
            "machine": {"processor": "AMD EPYC 7B13"},
            "environments": {
                name: {"size_bytes": size} for name, size in zip(MEMBERS, (10**9, 1.001 * 10**9, 3e9, 2e9), strict=True)
            },
            "planned": [cell.to_json() for cell in self.cells],
            "finished": True,
        }

    @property
    def manifest(self) -> Manifest:
        return Manifest.from_json(self.run)

    def change(self, version: str, **values: Any) -> None:
        """Set fields of the records of a version; a function gets the record."""
        self.records = [
            replace(r, **{name: value(r) if callable(value) else value for name, value in values.items()})
            if r.cell.environment == f"torch-{version}"
            else r
            for r in self.records
        ]

    def fail(self, version: str, reason: str) -> None:
        """Let a version fail in all of its processes."""
        self.change(
            version, status=FAILED, stage="environment", reason=reason, sample_ns=[], sample_cpu_ns=[], sample_turn=[]
        )


def _factor(factors: Mapping[str, Sequence[float]], cell: Cell) -> float:
    return factors[cell.workload][list(MEMBERS).index(cell.environment)]


def make_record(cell: Cell, number: int, factor: float, random: np.random.Generator) -> Record:
    place = list(MEMBERS).index(cell.environment)
    sample_ns = np.round(random.lognormal(0.0, 0.001, 12) * factor * STEP_S[cell.workload] * 20e9).astype(int)
    return Record(
        cell,
        number,
        1,
        OK,
        run="2026-11-22-1",
        started_at=1_795_305_600.0 + number,
        import_s=(1.0 + 0.5 * (place >= 2)) * random.lognormal(0.0, 0.01),
        first_call_s=(0.3 + 0.3 * (place == 1)) * random.lognormal(0.0, 0.01),
        first_call_cache="cold" if number == 0 else "warm",
        sample_steps=[20] * 12,
        sample_ns=sample_ns.tolist(),
        sample_cpu_ns=(2 * sample_ns).tolist(),
        sample_turn=(np.arange(12) // 3).tolist(),
        memory={"peak_bytes": (150 + 50 * (place == 3)) * 2**20},
        versions={"python": "3.12.1" if place == 3 else "3.10.13", "numpy": "1.26.4", "torch": VERSIONS[place]},
    )
