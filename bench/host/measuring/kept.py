"""Opens what runs keep for later ones: the peaks of the machine, and which cells' times were verified to grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.registry import Registry

from ..executors.job import InstalledEnvironment, describe_each
from ..project import STATE
from ..storage import identity
from ..storage.kept_growth import KeptGrowth
from ..storage.kept_peaks import KeptPeaks
from ..study.plan import Plan
from ..study.schema import Study
from .growth_checks import GrowthChecks


def peaks(
    root: Path,
    registry: Registry,
    frameworks: Iterable[str],
    environments: Mapping[str, InstalledEnvironment],
    machine: Mapping[str, Any],
) -> KeptPeaks:
    """Return the peaks that were measured on this machine in these environments, which have these frameworks."""
    code = identity.code_of_frameworks(registry, frameworks)
    return KeptPeaks(root / STATE / "peaks", describe_each(environments), code, machine)


def growth(
    root: Path,
    study: Study,
    plan: Plan,
    environments: Mapping[str, InstalledEnvironment],
    data: Mapping[str, str | None],
    machine: Mapping[str, Any],
) -> GrowthChecks:
    """Return the verifications of a run on this machine.

    Those of earlier runs count where compiled code is kept between runs, too. The times of a trial mean nothing, and
    beside other cells nothing is verified well.
    """
    if plan.profile.compile_cache != "kept" or plan.profile.trial:
        return GrowthChecks()
    kept = KeptGrowth(
        root / STATE / "growth",
        {name: asdict(environment) for name, environment in environments.items()},
        identity.code_of_cells(study.registry, plan),
        machine,
        {"seed": plan.seed, "data": dict(data), "workers": plan.profile.workers},
    )
    return GrowthChecks(kept)
