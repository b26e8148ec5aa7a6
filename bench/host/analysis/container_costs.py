"""Compares each cell in a container with the same cell in the venv whose lock the container shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..storage.manifest import Manifest
from .comparable_times import disturbed
from .comparisons import Reached, decide_together
from .fairness import refusal
from .results import Comparison, Result
from .row_key import row_key
from .run_analysis import Analysis


@dataclass(frozen=True)
class ContainerCost:
    """A cell in a container and in the venv of the same lock, and the ratio of their times."""

    container: Result
    venv: Result
    #: None where one of the two has no time that can be used, or no two processes took turns.
    comparison: Comparison | None


def venvs_of_containers(environments: Mapping[str, Any]) -> dict[str, str]:
    """Return {container: venv} for every container that was built from the lock of a venv of the run."""
    locks = {
        name: made.get("lock_hash")
        for name, made in environments.items()
        if made.get("provider") == "venv" and made.get("lock_hash")
    }
    return {
        name: made["lock"]
        for name, made in environments.items()
        if made.get("provider") == "container" and locks.get(made.get("lock")) == made.get("lock_hash")
        if made.get("lock") in locks
    }


def container_costs(analysis: Analysis, manifest: Manifest) -> list[ContainerCost]:
    """Compare every container with its venv, row by row and mode by mode; p values are adjusted together."""
    pairs = venvs_of_containers(manifest.environments)
    there = {(row_key(result.cell), result.cell.column): result for result in analysis.results}
    found = []
    for result in analysis.results:
        venv = pairs.get(result.cell.environment)
        other = there.get((row_key(result.cell), f"{venv}:{result.cell.mode}"))
        if venv is not None and other is not None:
            refused = manifest.strict and bool(refusal(result, other))
            withheld = disturbed(result) or disturbed(other)
            # A row ends for all of its cells at once.
            reached = Reached.of((result, other), manifest)
            found.append((result, other, None if refused or withheld else reached.compare(result, other)))
    comparisons = decide_together([ratio for _mine, _venv, ratio in found], analysis.noise.fraction)
    return [ContainerCost(mine, venv, own) for (mine, venv, _ratio), own in zip(found, comparisons, strict=True)]
