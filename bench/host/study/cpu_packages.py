"""Lists the packages with builds for processors alone, by the facts of frameworks, and what names an index of them.

The usual wheels of such a package bring CUDA: gigabytes that a machine without a GPU never uses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.registry import BUILT_IN


@dataclass(frozen=True)
class CpuPackage:
    """One of these packages."""

    name: str
    #: Its framework's name for people.
    product: str
    #: GB that an environment with such a build takes on the disk.
    environment_gb: float

    @property
    def key(self) -> str:
        """The key under ``[indexes]`` that names an index, or a folder, with its builds."""
        return re.sub(r"\W", "_", f"{self.name}_cpu")

    @property
    def variable(self) -> str:
        """The variable that does the same, and goes before the study file."""
        return f"BENCHMATRIX_{self.key.upper()}_INDEX"

    @property
    def named(self) -> str:
        """Where a person names the index."""
        return f"{self.key} under [indexes], or the variable {self.variable}"


@functools.cache
def known() -> tuple[CpuPackage, ...]:
    """Return the packages of our own frameworks."""
    every = (BUILT_IN.facts(name) for name in BUILT_IN.frameworks)
    return tuple(
        CpuPackage(facts.distribution, facts.product, facts.cpu_environment_gb)
        for facts in every
        if facts.cpu_environment_gb
    )


def among(requirements: Iterable[str]) -> CpuPackage | None:
    """Return the package that requirements in pip's notation name; None where they name none of them."""
    names = {canonicalize_name(Requirement(text).name) for text in requirements}
    return next((package for package in known() if package.name in names), None)
