"""Places the frameworks' compilation caches, and reports whether a cell finds its own code there: cold, warm or unsure.

In a profile with ``compile_cache = "cold"`` every cell has folders of its own that start empty with the run, so its
first process is cold and the later ones are warm. With ``"kept"`` the cells of an environment share folders that stay
between runs: much faster, but a cold first call may find what another cell left (precompiled headers, a kernel).
Trials, whose times mean nothing, share folders of their own: no first call that is published finds what they left.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.registry import BUILT_IN, Registry

from ..machine import facts
from ..setup.staging import one_at_a_time
from ..study.twin import original
from . import source_files
from .file_names import slug

COLD, WARM, UNSURE = "cold", "warm", "unsure"
#: The states in which a process compiles, at least in part.
COMPILED = (COLD, UNSURE)


@dataclass(frozen=True)
class CompileCaches:
    """The compilation caches of one run."""

    folder: Path
    run: str
    kept: bool
    #: {environment: its manifest and variables}; another installation has another cache.
    manifests: Mapping[str, Any] = field(default_factory=dict)
    registry: Registry = BUILT_IN
    #: Whether the files that define a cell are read once only, as for one row: that takes 10 ms each time.
    reads_once: bool = False
    trial: bool = False
    #: What the inputs and the weights are drawn with.
    seed: int = 0
    _digests: dict[tuple[str, str], str] = field(default_factory=dict, init=False, compare=False, repr=False)

    def variables(self, cell: Cell) -> dict[str, str]:
        """Return the environment variables that lead the framework's compilers to the cell's cache."""
        folder = self._folder(cell)
        facts = self.registry.facts(cell.framework)
        own = {name: str(folder / part) for name, part in facts.cache_variables.items()}
        return {**own, **self.shared_variables(cell)}

    def shared_variables(self, cell: Cell) -> dict[str, str]:
        """Return those of the variables that all cells of an environment share, in all runs.

        A framework that caches temporary files, too, gets a temporary folder that stays: what lies there belongs to the
        installation, not to a program, such as precompiled headers.
        """
        if not self.registry.facts(cell.framework).caches_temporary_files:
            return {}
        folder = self._shared(cell) / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        return {"TMPDIR": str(folder)}

    def folders(self, cell: Cell) -> list[str]:
        """List the folders that hold the caches of all cells of a cell's environment."""
        run = self._folder(cell) if self.kept else self.folder / slug(self.run)
        return [str(run), *self.shared_variables(cell).values()]

    def is_warm(self, cell: Cell) -> bool:
        """Tell whether what a cell's mode compiles once in an installation is there, if it compiles anything."""
        return not self._precompiled(cell) or self._warm(cell).exists()

    def warming(self, cell: Cell) -> contextlib.AbstractContextManager[None]:
        """Hold the right to compile it, which one process has at a time."""
        return one_at_a_time(self._warm(cell).with_suffix(".lock"))

    def note_warm(self, cell: Cell) -> None:
        _touch(self._warm(cell))

    def state(self, cell: Cell) -> str | None:
        """Tell whether a process of this very cell has filled the cache before; None for a cell that fills none.

        Unsure where one began and failed, or had other weights, which may be in its code: how much of that another one
        can use is unknown.
        """
        if not self.registry.facts(cell.framework).mode(cell.mode).caches_on_disk:
            return None
        mark = self._mark(cell)
        if mark.exists():
            return WARM
        return UNSURE if any(mark.parent.glob(f"{self._code(cell)}*")) else COLD

    def begin(self, cell: Cell) -> None:
        """Note that a process of the cell is about to make its first call."""
        _touch(_begun(self._mark(cell)))

    def fill(self, cell: Cell) -> None:
        """Note that the cell's first call has been made."""
        _touch(self._mark(cell))

    def drop(self) -> None:
        """Remove the folders of a finished run, unless they are kept."""
        if not self.kept:
            shutil.rmtree(self.folder / slug(self.run), ignore_errors=True)

    def _folder(self, cell: Cell) -> Path:
        if not self.kept:
            return self.folder / slug(self.run) / _short(cell.column, cell.row)
        kept = "trials" if self.trial else "kept"
        return self.folder / kept / _short(cell.environment, self._installation(cell), cell.threads)

    def _shared(self, cell: Cell) -> Path:
        return self.folder / "kept" / _short(original(cell.environment), self._installation(cell))

    def _warm(self, cell: Cell) -> Path:
        # With other variables it compiles others.
        own = ".trial" if self.trial and self.registry.facts(cell.framework).trial_variables else ""
        return self._shared(cell) / f"{slug(self._precompiled(cell), cell.device)}{own}.warm"

    def _precompiled(self, cell: Cell) -> str:
        return self.registry.facts(cell.framework).mode(cell.mode).precompiles

    def _installation(self, cell: Cell) -> str:
        """Describe what compiles, and for which processor: machines of a cluster share a project, and its caches."""
        manifest = self.manifests.get(original(cell.environment), {})
        # An interpreter that was there already has no lock.
        installed = manifest.get("lock_hash") or [manifest.get("interpreter"), manifest.get("packages")]
        return json.dumps([installed, manifest.get("variables"), _processor()], sort_keys=True, default=str)

    def _mark(self, cell: Cell) -> Path:
        weights = f"-{self.seed}" if self.registry.facts(cell.framework).mode(cell.mode).freezes else ""
        return self._folder(cell) / "cells" / f"{self._code(cell)}{weights}"

    def _code(self, cell: Cell) -> str:
        """Name a cell and the code that it compiles: code that was edited is compiled anew."""
        key = cell.workload, cell.framework
        if key not in self._digests or not self.reads_once:
            files = source_files.of_cell(self.registry, *key)
            self._digests[key] = source_files.digest(self.registry, files)
        digest = self._digests[key]
        return f"{slug(cell.column, cell.row)}-{digest[:12]}"


@functools.cache
def _processor() -> list[str]:
    return facts.processor()


def _begun(mark: Path) -> Path:
    return mark.with_name(f"{mark.name}.begun")


def _touch(mark: Path) -> None:
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()


def _short(*parts: object) -> str:
    """Name a folder by a hash: as long for every cell, since the length of its path moves what a process allocates."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
