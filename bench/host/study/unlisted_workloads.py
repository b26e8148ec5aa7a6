"""Says of workloads that exist and that a study does not take what can be done about each."""

from __future__ import annotations

from pathlib import Path

from bench.registry import folder_of

from . import sources
from .location import shown
from .rules import place_of
from .schema import Study


def remedies(study: Study) -> dict[str, str]:
    """Return {workload: what to do} of the workloads that exist and that the study does not take."""
    registry = study.registry
    return {
        **sources.misnamed(registry, "workloads"),
        **{
            name: f"{shown(Path(registry.home_of(name).path('workloads', folder_of(name))))}/ exists; "
            f"add [{place_of('workloads', name)}] to the study file."
            for name in registry.workloads
            if name not in study.workloads
        },
    }
