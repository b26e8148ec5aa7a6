"""Keeps between runs which cells were verified to take longer for more work, so that a first look need not repeat it.

Whether a step is waited for follows from code: that of the cell, of its installation and of the worker. A verification
counts for a day, and only where all of it is the same, on the same machine.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cell import Cell

from ..setup.staging import write_whole
from ..study.twin import original
from .hashes import hashed

#: Seconds for which a verification counts.
FRESH_S = 86400.0


@dataclass(frozen=True)
class KeptGrowth:
    """The verifications in ``folder``, one file for each cell."""

    folder: Path
    #: {environment: what is installed there, and how its workers start}
    environments: Mapping[str, Any]
    #: {(workload, framework): digest of the files that define such cells and of those of the worker}
    code: Mapping[tuple[str, str], str]
    #: What describes the machine.
    machine: Mapping[str, Any]
    #: What else decides how the run's cells are measured: the seed, the data, the kind of workers.
    choices: Mapping[str, Any]
    clock: Callable[[], float] = time.time

    def has(self, cell: Cell) -> bool:
        """Tell whether this very cell was verified within a day; a file that is missing or damaged tells nothing."""
        try:
            kept = json.loads(self._path(cell).read_text())
            return kept["about"] == self._about(cell) and 0 <= self.clock() - float(kept["verified_at"]) < FRESH_S
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return False

    def keep(self, cell: Cell) -> None:
        """Keep that a cell was verified just now."""
        # Without a place to keep it, the next run verifies again.
        with contextlib.suppress(OSError):
            write_whole(self._path(cell), json.dumps({"about": self._about(cell), "verified_at": self.clock()}))

    def drop(self, cell: Cell) -> None:
        """Forget what was kept of a cell."""
        with contextlib.suppress(OSError):
            self._path(cell).unlink(missing_ok=True)

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{hashed(cell.to_json())}.json"

    def _about(self, cell: Cell) -> str:
        environment = self.environments[original(cell.environment)]
        code = self.code[cell.workload, cell.framework]
        return hashed([cell.to_json(), environment, code, self.machine, self.choices])
