"""Keeps the measured peaks of this machine between runs, as measuring them takes seconds for every environment.

Other programs can only hide a peak, so the best of all measurements is kept. Peaks are measured again after a day.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.cell import Cell

from ..setup.staging import write_whole
from .hashes import hashed
from .manifest_schema import PeaksSchema
from .record_schema import verify

#: Seconds for which a measurement is used.
FRESH_S = 86400.0


@dataclass(frozen=True)
class KeptPeaks:
    """The peaks in ``folder``, one file for each environment, device, number of threads and choice of precisions."""

    folder: Path
    #: {environment: its manifest and variables}; another installation has peaks of its own, and so have variables that
    #: choose other instructions.
    manifests: Mapping[str, Any]
    #: {framework: a digest of what measures its peaks}
    code: Mapping[str, str]
    #: What describes the machine: another processor has other peaks.
    machine: Mapping[str, Any]
    clock: Callable[[], float] = time.time

    def get(self, cell: Cell, precisions: Sequence[str]) -> dict[str, Any] | None:
        """Return the peaks that a cell's environment measured within a day, as ``plausibility.measure`` does."""
        kept = self._read(self._path(cell, precisions))
        age_s = self.clock() - kept.get("measured_at", 0.0)
        return _rates(kept) if 0 <= age_s < FRESH_S else None

    def keep(self, cell: Cell, precisions: Sequence[str], found: Mapping[str, Any]) -> dict[str, Any]:
        """Keep what was measured, combined with what an earlier measurement found better; return both together.

        A measurement that failed, wholly or in part, is not kept.
        """
        if found.get("reason") or found.get("reasons"):
            return dict(found)
        path = self._path(cell, precisions)
        both = best(found, _rates(self._read(path)))
        # Without a place to keep them, the next run measures again.
        with contextlib.suppress(OSError):
            write_whole(path, json.dumps({**both, "measured_at": self.clock()}))
        return both

    def _path(self, cell: Cell, precisions: Sequence[str]) -> Path:
        installed, code = self.manifests.get(cell.environment), self.code.get(cell.framework)
        described = [installed, code, cell.device, cell.threads, sorted(precisions), self.machine]
        return self.folder / f"{hashed(described)}.json"

    def _read(self, path: Path) -> dict[str, Any]:
        """Return what a file holds; a file that is missing, damaged or not ours holds nothing."""
        try:
            kept = json.loads(path.read_text())
            verify(PeaksSchema, kept)
            return {**kept, "measured_at": float(kept["measured_at"])}
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return {}


def _rates(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kept[name] for name in ("flops_per_s", "bandwidths", "reasons") if name in kept}


def best(found: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Combine two measurements of one framework, rate by rate: other programs can only hide a peak."""
    flops = dict(before.get("flops_per_s", {}))
    for precision, rate in found.get("flops_per_s", {}).items():
        flops[precision] = max(rate, flops.get(precision, 0.0))
    curve = dict(before.get("bandwidths", ()))
    for size, rate in found.get("bandwidths", ()):
        curve[size] = max(rate, curve.get(size, 0.0))
    reasons = {**before.get("reasons", {}), **found.get("reasons", {})}
    lacking = {name: reason for name, reason in reasons.items() if name not in flops}
    if "copy" in lacking and curve:
        del lacking["copy"]
    return {
        **found,
        "reasons": lacking,
        "flops_per_s": flops,
        "bandwidths": [[size, rate] for size, rate in sorted(curve.items())],
    }
