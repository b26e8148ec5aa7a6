"""Reads where builds for processors alone come from, and gives the address to the environments that can use them."""

from __future__ import annotations

import os
from pathlib import Path

from . import cpu_packages
from .cpu_packages import CpuPackage
from .environment import Environment
from .location import StudyError
from .schema import Study
from .suggestion import shown
from .values import wheel_source


def with_cpu_index(study: Study, folder: Path) -> Study:
    """Give the index to every environment that can install from it. Raises StudyError for a wrong variable.

    A path in the study file begins at ``folder``, where that file lies.
    """
    addresses = {package: _address(study, package, folder) for package in cpu_packages.known()}
    environments = {}
    for name, environment in study.environments.items():
        package = _package(environment)
        address = addresses[package] if package is not None else ""
        environments[name] = environment.with_cpu_index(address) if address else environment
    return study.model_copy(update={"environments": environments})


def _address(study: Study, package: CpuPackage, folder: Path) -> str:
    """Return where the builds of a package come from; empty where neither the study nor the variable says."""
    address = study.indexes.of(package)
    if given := os.environ.get(package.variable):
        try:
            address, folder = wheel_source(given), Path()
        except ValueError as error:
            raise StudyError([f"{package.variable}: {error}"]) from None
        if "://" not in address and not os.path.isdir(address):
            missing = f"{shown(address)} is no folder. Name one with wheels, or an https address."
            raise StudyError([f"{package.variable}: {missing}"])
    return address if not address or "://" in address else str((folder / address).absolute())


def _package(environment: Environment) -> CpuPackage | None:
    """Return the package that an environment installs by version and can use without CUDA."""
    for_gpus = environment.provider == "container" and environment.dockerfile == "cuda"
    installs = environment.provider != "existing" and not environment.allow_source
    return cpu_packages.among(environment.requirements) if installs and not for_gpus else None
