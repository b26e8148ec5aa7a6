"""Knows where the float64 references are: computed once, in a process of their own."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.cell import Cell

from ..project import code_folder
from ..workers.worker_process import WorkerProcess, variables

#: A reference is NumPy on one thread; large presets take their time.
TIMEOUT_S = 1800.0


@dataclass(frozen=True)
class References:
    """The references of one checkout, kept in ``folder`` until what defines them changes."""

    root: Path
    folder: Path
    seed: int
    threads: int

    def path(self, cell: Cell, data: str | None) -> Path:
        """Say where the reference of a cell is or will be; the name changes with the code that defines it."""
        specification = self.root / "bench" / "workloads" / cell.workload.replace("-", "_")
        sources = [*(self.root / "bench" / "workloads").glob("*.py"), *specification.iterdir()]
        sources.append(self.root / "bench" / "worker" / "checking" / "parity.py")
        hashed = hashlib.sha256(f"{self.seed}/{data}".encode())
        for file in sorted(Path(data).glob("*")) if data and Path(data).is_dir() else [Path(data)] if data else []:
            if file.exists():
                hashed.update(f"{file.name}/{file.stat().st_size}/{file.stat().st_mtime_ns}".encode())
        for source in sorted(path for path in sources if path.is_file()):
            # An implementation does not define what is right.
            if source.parent != specification or source.stem not in ("torch", "tensorflow", "jax", "numpy"):
                hashed.update(source.read_bytes())
        return self.folder / f"{cell.workload}-{cell.size}-{hashed.hexdigest()[:16]}.npz"

    def ensure(self, cell: Cell, data: str | None) -> Path:
        """Compute the reference if it is not there; raises workers.Ended when that fails."""
        path = self.path(cell, data)
        if not path.exists():
            self._compute(cell, data, path)
        # A worker in a container may be another user.
        path.chmod(0o644)
        return path

    def _compute(self, cell: Cell, data: str | None, path: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        worker = WorkerProcess(
            [sys.executable],
            folder=code_folder(self.root),
            variables=variables(self.threads, {}),
            log=path.with_suffix(".log"),
            processors=[],
        )
        try:
            worker.send(
                do="reference", workload=cell.workload, size=cell.size, seed=self.seed, path=str(path), data=data
            )
            worker.receive(TIMEOUT_S)
        finally:
            worker.kill()
        path.with_suffix(".log").unlink(missing_ok=True)
