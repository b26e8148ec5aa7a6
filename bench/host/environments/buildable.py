"""Defines what preparing an environment reads of its table in the study file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Buildable(Protocol):
    """What a study file says about an environment, as far as preparing it is concerned."""

    @property
    def name(self) -> str: ...
    @property
    def framework(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def python(self) -> str | None: ...
    @property
    def requirements(self) -> tuple[str, ...]: ...
    @property
    def interpreter(self) -> str | None: ...
    @property
    def variables(self) -> Mapping[str, str]: ...
    @property
    def lock(self) -> str | None:
        """Return the name of the venv whose lock it shares, and a venv's installation; None where it has its own."""

    @property
    def preload(self) -> Sequence[str]: ...
    @property
    def driver(self) -> str | None: ...
    @property
    def allow_source(self) -> bool: ...
    @property
    def build_requirements(self) -> tuple[str, ...]: ...
    @property
    def cpu_index(self) -> str | None:
        """Return the index or folder with CPU builds of its framework, for machines without a GPU; None without one."""


def lock_owner(environment: Buildable) -> str:
    """Return the name of the venv whose lock an environment has, and a venv its installation: itself, or another."""
    return environment.lock or environment.name
