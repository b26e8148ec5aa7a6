"""Holds a study file whose keys were read one by one, and the names that its rules know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bench.cell import DEVICES, PRECISIONS
from bench.registry import Registry

#: The values of one table, defaults included; a key that is wrong by itself, or required and missing, is absent.
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Draft:
    """A study file whose keys were read one by one, before the rules for the whole are checked."""

    settings: Values
    environments: Mapping[str, Values]
    workloads: Mapping[str, Values]
    profiles: Mapping[str, Values]
    exclusions: tuple[Values, ...]
    claims: Mapping[str, Values]
    registry: Registry

    def known(self, coordinate: str) -> list[str]:
        """List the values that a coordinate of this study can have."""
        environments = self.environments.values()
        values: dict[str, Iterable[str]] = {
            "environment": self.environments,
            "framework": (env["framework"] for env in environments if "framework" in env),
            "mode": (mode for env in environments for mode in env.get("modes", ())),
            "workload": self.workloads,
            "size": self.sizes,
            "precision": PRECISIONS,
            "device": DEVICES,
        }
        return list(dict.fromkeys(values[coordinate]))

    @cached_property
    def sizes(self) -> list[str]:
        """The sizes of all workloads, which many rules ask for; unknown workloads have none."""
        there = set(self.registry.workloads)
        return [size for name in self.workloads if name in there for size in self.registry.specification(name).SIZES]


def sizes_of(registry: Registry, workload: str) -> list[str]:
    """List the sizes of a workload, none for an unknown name."""
    return list(registry.specification(workload).SIZES) if workload in registry.workloads else []
