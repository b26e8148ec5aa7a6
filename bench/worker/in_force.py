"""Reads back what was in force in a cell, settings, memory and compilation, and refuses what was not asked for."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from ..cell import MIXED, Cell
from ..frameworks import loaded
from ..frameworks.precisions import TF32
from . import steering
from .live_cell import LiveCell
from .timing.timed_program import TimedProgram


def verify(cell: Cell, settings: Mapping[str, Any]) -> None:
    """Raise RuntimeError where a cell has other threads or libraries than it asked for, or none of the precision."""
    asked, found = cell.threads, settings.get("threads")
    # Without binding, a library that does not report its threads leaves them unknown.
    if found is None and loaded.is_bound():
        raise RuntimeError(
            "the adapter's settings() have no threads: give those in force, or, where the framework cannot tell, "
            "len(bench.frameworks.loaded.processors())"
        )
    if found not in (None, asked):
        raise RuntimeError("{} threads were asked for, {} are in force".format(asked, found))
    missing = steering.not_preloaded()
    if missing:
        raise RuntimeError("LD_PRELOAD names {}, which was not loaded".format(" and ".join(missing)))
    # Float32 would be right, too, and no TF32.
    if cell.precision == TF32 and settings.get("float32 matmul") != TF32:
        raise RuntimeError("TF32 was asked for, and products are in {}".format(settings.get("float32 matmul")))
    # A framework of others need not report it.
    if cell.precision == MIXED and "bf16" not in str(settings.get("float32 matmul", "bf16")):
        raise RuntimeError("products in bfloat16 were asked for, and are in {}".format(settings["float32 matmul"]))


def memory_of(live: LiveCell, first_call_peak: int, timed: Optional[TimedProgram]) -> Dict[str, Any]:
    """Return the bytes that a cell used, net of the import, and what the framework's allocator reports."""
    used = {
        "baseline_bytes": live.baseline.bytes - live.imported.bytes_for_others(live.preloads),
        "import_bytes": live.imported.bytes,
        "peak_bytes": live.baseline.above(),
        "first_call_peak_bytes": first_call_peak,
    }
    if timed is None or not timed.peak_is_new:
        # The kernel cannot reset the peak, so it includes the first call and the check.
        used["peak_is_of_all"] = 1
    used.update(live.adapter.memory())
    return used


def settings_of(live: LiveCell, timed: Optional[TimedProgram], *, forked: bool) -> Dict[str, Any]:
    """Return the settings that were really in force, by name."""
    settings = dict(live.adapter.settings())
    # A program that waits for each step itself says so.
    settings.setdefault("synchronised", "every sample" if timed is None else timed.synchronised)
    # So does one that divides its steps, which reads back on how many devices its arrays lie.
    settings.setdefault("devices", live.cell.devices)
    if timed is not None:
        settings.update(timed.planted)
    settings.update(steering.facts())
    settings["process"] = "forked after the import" if forked else "started for the cell"
    settings.update(steering.steering_variables(live.facts))
    return settings


def compilation_of(live: LiveCell, before: Mapping[str, Any]) -> Dict[str, Any]:
    """Return what was compiled, and how often since ``before``, which is what was compiled before the samples."""
    found = live.compilation()
    if "compilations" in found:
        found["recompiled_while_timing"] = found.pop("compilations") - before.get("compilations", 0)
    return found
