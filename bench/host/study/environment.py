"""Defines the table of an environment, with the types, limits and descriptions of its keys."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PrivateAttr
from pydantic.json_schema import SkipJsonSchema

from .table import StudyTable
from .values import (
    FILLED_LIST,
    LIST,
    DriverVersion,
    ExpandedText,
    Filled,
    Framework,
    Mode,
    Name,
    PythonVersion,
    SystemPackage,
    Text,
    VariableName,
    Versions,
)


class Environment(StudyTable):
    """One isolated installation of one version of a framework; the table's name is the environment's."""

    name: SkipJsonSchema[Name]
    framework: Framework = Field(description="The library that computes.")
    provider: Literal["venv", "existing", "container"] = Field(
        "venv",
        description="venv: built here from a lock; existing: an interpreter that is there; container: an image.",
    )
    python: PythonVersion | None = Field(
        None, description='Version of the interpreter that the environment is built with, in quotes: "3.11".'
    )
    requirements: Annotated[tuple[Filled, ...], LIST] = Field(
        (), description="What is installed, in pip's notation; pin the framework with ==."
    )
    allow_source: bool = Field(
        False,
        description="Install packages that are published as source only, or at an address. Their code runs as you when "
        "they are locked and built. Otherwise only wheels are installed.",
    )
    build_requirements: Annotated[tuple[Filled, ...], LIST] = Field(
        (), description="What such packages are built with, in pip's notation; setuptools and wheel when absent."
    )
    modes: Annotated[tuple[Mode, ...], FILLED_LIST] = Field(
        description="How the framework executes; every mode is a column of the table."
    )
    interpreter: ExpandedText | None = Field(
        None,
        description="Path or command of an interpreter, with ~ and $VARIABLES: the one that is used (existing) or "
        "built with (venv). --interpreter NAME=PATH overrides it.",
    )
    lock: Name | None = Field(
        None,
        description="The venv whose Python, requirements and lock it shares. A container then differs in nothing but "
        "the container. A venv uses the same installation, and differs in variables, preload and modes.",
    )
    dockerfile: Literal["cpu", "cuda"] = Field("cpu", description="For a container: docker/<this>.Dockerfile.")
    base: ExpandedText | None = Field(
        None,
        description="For a container: the base image, from any registry or made locally; the Dockerfile's when absent.",
    )
    system_packages: Annotated[tuple[SystemPackage, ...], LIST] = Field(
        (), description='For a container: what the base\'s distribution adds, as compiled modes need: ["g++"].'
    )
    driver: DriverVersion | None = Field(
        None, description='The oldest NVIDIA driver with which the environment works, in quotes: "580.65.06".'
    )
    variables: dict[VariableName, Text] = Field(
        {}, description="Further environment variables for the worker, for example what an HPC module sets."
    )
    preload: Annotated[tuple[ExpandedText, ...], LIST] = Field(
        (),
        description="Libraries that the worker loads before all others (LD_PRELOAD, on Linux), such as an allocator: "
        "paths from the study file's folder. A C source is compiled first.",
    )
    versions: Versions = Field(
        (),
        description='Versions of the framework, such as ["1.13.1", "2.5.1"]: each becomes an environment '
        '<table>-<version> with a lock of its own. Of a range, such as ">=2.0,<3", nox -s lock finds the newest '
        "release of each minor version. Python and requirements that are not given are those that the version needs; "
        "{version} stands for it in a requirement.",
    )
    note: str = Field("", description="A remark about the environment, for people.")
    _family: tuple[str, str] | None = PrivateAttr(None)
    _cpu_index: str | None = PrivateAttr(None)

    @property
    def cpu_index(self) -> str | None:
        """Return the index or folder with CPU builds of its framework, for machines without a GPU; None without one."""
        return self._cpu_index

    @property
    def lock_owner(self) -> str:
        """Return the name of the venv whose lock it has, and a venv its installation: its own, or another's."""
        return self.lock or self.name

    @property
    def family(self) -> str | None:
        """Return the name of the table that lists the environment's version; None where it has its own table."""
        return self._family[0] if self._family else None

    @property
    def version(self) -> str | None:
        """Return the version that the environment was made for; None where it has its own table."""
        return self._family[1] if self._family else None

    def in_family(self, family: str, version: str) -> Environment:
        copy = self.model_copy()
        copy._family = (family, version)
        return copy

    def with_cpu_index(self, address: str) -> Environment:
        copy = self.model_copy()
        copy._cpu_index = address
        return copy
