"""Reads where the CPU builds of PyTorch come from, and gives the address to the environments that can use them."""

from __future__ import annotations

import os
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .environment import Environment
from .location import StudyError
from .schema import Study
from .suggestion import shown
from .values import wheel_source

#: Names the index or the folder, and goes before the study file.
VARIABLE = "BENCHMATRIX_TORCH_CPU_INDEX"
PACKAGE = "torch"


def with_cpu_index(study: Study, folder: Path) -> Study:
    """Give the index to every environment that can install from it. Raises StudyError for a wrong variable.

    A path in the study file begins at ``folder``, where that file lies.
    """
    address = study.indexes.torch_cpu
    if os.environ.get(VARIABLE):
        try:
            address, folder = wheel_source(os.environ[VARIABLE]), Path()
        except ValueError as error:
            raise StudyError([f"{VARIABLE}: {error}"]) from None
        if "://" not in address and not os.path.isdir(address):
            raise StudyError([f"{VARIABLE}: {shown(address)} is no folder. Name one with wheels, or an https address."])
    if not address:
        return study
    if "://" not in address:
        address = str((folder / address).absolute())
    environments = {
        name: environment.with_cpu_index(address) if _takes(environment) else environment
        for name, environment in study.environments.items()
    }
    return study.model_copy(update={"environments": environments})


def _takes(environment: Environment) -> bool:
    """Tell whether an environment installs PyTorch by version, and is not made for GPUs."""
    for_gpus = environment.provider == "container" and environment.dockerfile == "cuda"
    installs = environment.provider != "existing" and not environment.allow_source
    names = {canonicalize_name(Requirement(text).name) for text in environment.requirements}
    return installs and not for_gpus and PACKAGE in names
