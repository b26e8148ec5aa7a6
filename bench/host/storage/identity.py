"""Decides whether a run can be continued: only when everything that decides its numbers is the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.registry import BENCH, Registry

from ..environments import Prepared, cpu_builds, locks, preloads
from ..study.plan import Plan
from ..study.schema import Study
from . import source_files
from .hashes import hashed
from .input_data import state_of


def identity(root: Path, study: Study, plan: Plan, prepared: Mapping[str, Prepared], machine: Mapping[str, Any]) -> str:
    """Hash what a run is about; ``machine`` measures it: see ``bench.host.machine.facts``.

    Whether an environment could be built is left out: one that can be built by now shall continue, too.
    """
    about = {
        "cells": [cell.to_json() for cell in plan.cells],
        "profile": plan.profile.model_dump(mode="json"),
        "looks": plan.looks,
        "memory_cap_bytes": plan.memory_cap_bytes,
        "seed": plan.seed,
        "data": {name: str(choice.data) for name, choice in study.workloads.items()},
        "files": _files(study, plan),
        "environments": {
            name: [
                study.environments[name].model_dump(mode="json"),
                _read(locks.find_lock(cpu_builds.lock_name(study.environments[name]), root)),
                prepared[name].manifest.get("packages") if study.environments[name].provider == "existing" else None,
                preloads.states(study.environments[name].preload),
            ]
            for name in sorted(prepared)
        },
        "processor": [machine.get("processor"), machine.get("processor_version")],
        "gpus": _gpus(plan, machine),
        "code": source_files.digest(study.registry, sources(study.registry, plan)),
    }
    return hashed(about)


def sources(registry: Registry, plan: Plan) -> list[Path]:
    """List the files that decide what is measured: the worker's, and those of the cells."""
    return sorted({*_of_worker(), *(path for files in _of_cells(registry, plan).values() for path in files)})


def code_of_cells(registry: Registry, plan: Plan) -> dict[tuple[str, str], str]:
    """Return for each workload and framework a digest of the files that define its cells, and of the worker's."""
    worker = _of_worker()
    return {
        key: source_files.digest(registry, sorted({*worker, *files}))
        for key, files in _of_cells(registry, plan).items()
    }


def programs(registry: Registry, plan: Plan) -> dict[str, str]:
    """Return for each environment and workload, ``jax/gemm``, a short digest of the files that define its program.

    The worker's are left out: a new release of ours may change them, and no program with them.
    """
    of_cells = {key: source_files.digest(registry, files)[:12] for key, files in _of_cells(registry, plan).items()}
    return {f"{cell.environment}/{cell.workload}": of_cells[cell.workload, cell.framework] for cell in plan.cells}


def code_of_frameworks(registry: Registry, frameworks: Iterable[str]) -> dict[str, str]:
    """Return for each framework a digest of the files that define it, and of the worker's."""
    files = {name: {*_of_worker(), *source_files.of_framework(registry, name)} for name in frameworks}
    return {name: source_files.digest(registry, sorted(each)) for name, each in files.items()}


def _files(study: Study, plan: Plan) -> dict[str, str]:
    """Describe the input data of the workloads: half of a run must not read other data than the rest."""
    named = {cell.workload: study.workloads[cell.workload].data for cell in plan.cells}
    return {name: state_of(path) for name, path in named.items() if path is not None}


def _gpus(plan: Plan, machine: Mapping[str, Any]) -> list[str]:
    """Describe the kinds of GPUs, where any is measured: a folder may be shared by machines with others."""
    found = machine.get("gpus") or () if any(cell.device != "cpu" for cell in plan.cells) else ()
    return sorted({json.dumps(gpu, sort_keys=True) for gpu in found})


def _of_worker() -> list[Path]:
    return list(Path(BENCH.folder, "worker").rglob("*.py"))


def _of_cells(registry: Registry, plan: Plan) -> dict[tuple[str, str], list[Path]]:
    keys = {(cell.workload, cell.framework) for cell in plan.cells}
    return {key: source_files.of_cell(registry, *key) for key in keys}


def _read(path: Path) -> str | None:
    # A damaged lock is the reason why its environment could not be prepared.
    return path.read_text(encoding="utf-8", errors="backslashreplace") if path.exists() else None
