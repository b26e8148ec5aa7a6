"""Computes the float64 references, each once, in processes of their own, and keeps them."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cell import MIXED, Cell
from bench.registry import BUILT_IN, Registry

from ..environments import variables
from ..project import code_folder
from ..setup.staging import one_at_a_time
from ..workers.protocol import Ended, ask
from ..workers.worker_process import WorkerProcess
from . import source_files
from .input_data import state_of

#: Computes references, in our own source; what it imports differentiates and applies optimizers.
PARITY = ("worker", "checking", "parity.py")

#: A reference is NumPy in float64; large presets take their time.
TIMEOUT_S = 1800.0
#: So many are computed ahead, at most.
MOST_AHEAD = 100


@dataclass(frozen=True)
class References:
    """The references of one project, kept in ``folder`` until the code or data that define them change."""

    root: Path
    folder: Path
    seed: int
    threads: int
    registry: Registry = BUILT_IN

    def path(self, cell: Cell, data: str | None) -> Path:
        """Return the path of a cell's reference; the name changes with the code that defines it."""
        hashed = hashlib.sha256(f"{self.seed}/{data}".encode())
        # Names may hold any byte.
        hashed.update((state_of(Path(data)) if data else "").encode(errors="surrogateescape"))
        parity = Path(self.registry.sources[0].path(*PARITY))
        files = source_files.of_specification(self.registry, cell.workload, parity)
        hashed.update(source_files.digest(self.registry, files).encode())
        kind = "-mixed" if cell.precision == MIXED else ""
        return self.folder / f"{cell.workload}-{cell.size}{kind}-{hashed.hexdigest()[:16]}.npz"

    def ensure(self, cell: Cell, data: str | None) -> Path:
        """Compute the reference if it is not there; raises Ended where that fails."""
        path = self.path(cell, data)
        if not _is_whole(path):
            with one_at_a_time(path.with_suffix(".lock")):
                if not _is_whole(path):
                    self._compute(cell, data, path)
        # A worker in a container may run as another user.
        path.chmod(0o644)
        return path

    @contextlib.contextmanager
    def ahead(self, wanted: Iterable[tuple[Cell, str | None]]) -> Iterator[None]:
        """Compute what is missing of these cells, each with its data, beside what the ``with`` block does.

        The end of the block waits for them, up to the first that fails; an error in it ends them at once. What is
        missing then is left to ``ensure``, which reports what fails.
        """
        listed = ((self.path(cell, data), cell, data) for cell, data in wanted)
        missing = {path: self._request(cell, data, path) for path, cell, data in listed if not _is_whole(path)}
        log = self.folder / "ahead.log"
        try:
            # One processor of several is left to the block: threads of NumPy wait for each other by spinning.
            worker = self._start(log, max(1, self.threads - 1)) if missing else None
        except Ended:
            worker = None
        if worker is None:
            yield
            return
        # It does one after the other; more requests than these could fill the pipe.
        requests = list(missing.values())[:MOST_AHEAD]
        try:
            for request in requests:
                worker.send(**request)
            yield
            with contextlib.suppress(Ended):
                for _ in requests:
                    worker.receive(TIMEOUT_S)
        finally:
            worker.kill()
            log.unlink(missing_ok=True)

    def _compute(self, cell: Cell, data: str | None, path: Path) -> None:
        worker = self._start(path.with_suffix(".log"), self.threads)
        try:
            ask(worker, TIMEOUT_S, **self._request(cell, data, path))
        finally:
            worker.kill()
        path.with_suffix(".log").unlink(missing_ok=True)

    def _start(self, log: Path, threads: int) -> WorkerProcess:
        self.folder.mkdir(parents=True, exist_ok=True)
        return WorkerProcess(
            [sys.executable],
            folder=code_folder(self.root),
            variables=variables.of_process(threads),
            log=log,
            processors=[],
            sources=self.registry.others,
        )

    def _request(self, cell: Cell, data: str | None, path: Path) -> dict[str, Any]:
        place = {"workload": cell.workload, "size": cell.size, "seed": self.seed, "path": str(path), "data": data}
        return {"do": "reference", **place, "mixed": cell.precision == MIXED}


def _is_whole(path: Path) -> bool:
    """Tell whether a reference is there with its end, which lists its arrays: what was cut off is computed anew.

    A damaged array is found by its checksum, where it is read.
    """
    try:
        with zipfile.ZipFile(path) as stored:
            return bool(stored.namelist())
    except (OSError, zipfile.BadZipFile):
        return False
