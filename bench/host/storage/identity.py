"""Knows what makes two runs the same: only a run about the very same is continued."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ..environments import Prepared, locks
from ..machine import facts
from ..study.plan import Plan
from ..study.schema import Study


def identity(root: Path, study: Study, plan: Plan, prepared: Mapping[str, Prepared]) -> str:
    """Hash what a run is about.

    Whether an environment could be built is left out: one that can be built by now shall continue, too.
    """
    about = {
        "cells": [cell.to_json() for cell in plan.cells],
        "profile": plan.profile.model_dump(mode="json"),
        "looks": plan.looks,
        "memory_cap_bytes": plan.memory_cap_bytes,
        "seed": plan.seed,
        "data": {name: str(choice.data) for name, choice in study.workloads.items()},
        "environments": {
            name: [
                study.environments[name].model_dump(mode="json"),
                _read(locks.find_lock(study.environments[name].lock or name, root)),
                prepared[name].manifest.get("packages") if study.environments[name].provider == "existing" else None,
            ]
            for name in sorted(prepared)
        },
        "processor": facts.processor_model(),
        "code": [
            path.read_text(encoding="utf-8")
            for part in ("worker", "frameworks", "workloads")
            for path in sorted((root / "bench" / part).rglob("*.py"))
        ],
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
