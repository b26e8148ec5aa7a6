"""Defines the tables and keys of a study file, with their types, limits and descriptions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PrivateAttr, create_model
from pydantic.json_schema import SkipJsonSchema

from bench.registry import BUILT_IN, Registry

from . import cpu_packages
from .claim import Claim
from .cpu_packages import CpuPackage
from .environment import Environment
from .table import StudyTable
from .values import (
    FILLED_LIST,
    LIST,
    Device,
    ExpandedPath,
    ExpandedText,
    Filled,
    Name,
    Precision,
    Threads,
    WheelSource,
)


class Settings(StudyTable):
    """What holds for the whole study."""

    name: Name = Field(description="Short name of the study; its results go to reports/<name>/.")
    title: str = Field("", description="Title of the table, for people.")
    extends: str | None = Field(
        None,
        description="Another study file, relative to this one, whose tables hold where this one says nothing else; "
        "exclusions are added to its own. It may extend another one itself.",
    )
    baseline: str = Field(
        description="The column that others are compared with, as environment:mode: torch1:eager; or best, or previous."
    )
    default: Annotated[tuple[str, ...], FILLED_LIST] = Field(
        description="The environments that run when none is named on the command line."
    )
    profile: str = Field(description="The profile that is measured when none is named on the command line.")
    seed: int = Field(0, ge=0, le=2**32 - 1, description="Seed of the parameters, the inputs and the order of cells.")
    threads: Threads = Field(
        "all",
        description="Threads of every framework: a number, or 'all' for every physical core available; of several, "
        'such as [1, "all"], each gets rows of its own.',
    )
    devices: Annotated[tuple[Device, ...], FILLED_LIST] = Field(
        ("cpu",), description="The devices that are measured: cpu, gpu."
    )
    paths: Annotated[tuple[ExpandedText, ...], LIST] = Field(
        (),
        description="Folders with other people's frameworks, workloads and outputs, relative to the study file, "
        "with ~ and $VARIABLES.",
    )
    packages: Annotated[tuple[Filled, ...], LIST] = Field(
        (), description="Installed packages with the same, by the names of their entry points in the group benchmatrix."
    )


class WorkloadChoice(StudyTable):
    """How one workload takes part in the study; an empty table takes all of its sizes, in float32."""

    name: SkipJsonSchema[str]
    sizes: Annotated[tuple[str, ...], FILLED_LIST] | None = Field(
        None, description="The sizes that may be measured; all of the workload's when absent."
    )
    precisions: Annotated[tuple[Precision, ...], FILLED_LIST] = Field(
        ("float32",), description="The precisions that are measured."
    )
    threads: Threads | None = Field(None, description="Threads of every framework, instead of the study's.")
    data: ExpandedPath | None = Field(
        None, description="File or folder with the input data, relative to the study file, with ~ and $VARIABLES."
    )


class Profile(StudyTable):
    """How thoroughly the study is measured; the table's name is the profile's."""

    name: SkipJsonSchema[Name]
    rounds: int = Field(ge=1, le=10_000, description="Rounds that every cell gets, each in fresh processes.")
    most_rounds: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="Cells whose verdicts are not settled go on to this many rounds; 'rounds' when absent.",
    )
    twin: bool = Field(
        False,
        description="Measure the baseline's column twice, under two names: the difference is the run's noise floor.",
    )
    peaks: bool = Field(
        True,
        description="Measure first what the machine can do at most: a faster time is an error, and tables show shares.",
    )
    energy_s: float = Field(
        0.0,
        ge=0,
        le=100,
        allow_inf_nan=False,
        description="Seconds that each cell computes once more in the first round, so that the energy of a step can be "
        "read: 10 are enough. 0: not. Where nothing counts energy, none is shown.",
    )
    samples: int = Field(ge=1, le=1_000_000, description="Timed samples per cell and round.")
    sample_seconds: float = Field(
        gt=0, le=3600, allow_inf_nan=False, description="Target length of one timed sample, in seconds."
    )
    sizes: Annotated[tuple[str, ...], FILLED_LIST] = Field(description="The sizes of each workload that are measured.")
    sizes_of: dict[str, Annotated[tuple[str, ...], FILLED_LIST]] = Field(
        {}, description='Other sizes for single workloads, instead of sizes: dispatch = ["tiny"].'
    )
    compile_cache: Literal["cold", "kept"] = Field(
        "cold",
        description="cold: every run compiles anew, each cell for itself; kept: code stays between runs, "
        "shared by the cells of an environment, and a cell whose time was verified to grow with its work is not "
        "verified again for a day.",
    )
    workers: Literal["forked", "own"] = Field(
        "forked",
        description="forked: the workers of a round are forked from one process for each environment, which has "
        "imported the framework; own: every worker imports by itself.",
    )
    timeout_s: float = Field(
        300.0, gt=0, le=86_400, allow_inf_nan=False, description="Seconds that a cell may spend in one stage."
    )
    trial: bool = Field(
        False, description="Its times mean nothing: results go to reports/<study>/trial/ and replace no others."
    )
    verify: bool = Field(
        False,
        description="Compare the hash of every installed file before measuring; otherwise sizes, times and inodes.",
    )
    note: str = Field("", description="What the profile is for.")


class IndexesTable(StudyTable):
    """Where further wheels come from. Locks hold their hashes, and no address."""

    def of(self, package: CpuPackage) -> str:
        """Return the index or the folder with the builds of a package; empty where the study names none."""
        return str(getattr(self, package.key))


def _index(package: CpuPackage) -> Any:
    said = (
        f"An index, or a folder of wheels, with {package.product}'s CPU builds: installed where there is no GPU. The "
        f"variable {package.variable} goes before it."
    )
    return WheelSource, Field("", description=said)


if TYPE_CHECKING:
    Indexes = IndexesTable
else:
    # A key for each framework whose facts say that it has such builds.
    Indexes = create_model(
        "Indexes",
        __base__=IndexesTable,
        __doc__=IndexesTable.__doc__,
        **{package.key: _index(package) for package in cpu_packages.known()},
    )


class Exclusion(StudyTable):
    """Cells that are not measured: those that match every pattern given. They stay in the table, with the reason."""

    reason: Filled = Field(description="Why the cells are left out; printed as a footnote of the table.")
    environment: Filled | None = Field(None, description="Pattern of environment names: torch*.")
    framework: Filled | None = Field(None, description="Pattern of frameworks.")
    mode: Filled | None = Field(None, description="Pattern of modes.")
    workload: Filled | None = Field(None, description="Pattern of workloads: transformer-*, or !gemm for all others.")
    size: Filled | None = Field(None, description="Pattern of sizes.")
    precision: Filled | None = Field(None, description="Pattern of precisions.")
    device: Filled | None = Field(None, description="Pattern of devices.")
    training: bool | None = Field(None, description="true: only workloads that train; false: only those that do not.")


#: The coordinates by which an exclusion may choose cells.
COORDINATES = tuple(key for key in Exclusion.model_fields if key not in ("reason", "training"))


class Study(StudyTable):
    """A study: environments, workloads and profiles, and what is left out."""

    settings: Settings = Field(alias="study", description="What holds for the whole study.")
    environments: dict[str, Environment] = Field(description="The environments; nox -s bench-<name> measures one.")
    workloads: dict[str, WorkloadChoice] = Field(description="The workloads that take part, in the table's order.")
    profiles: dict[str, Profile] = Field(description="How thoroughly to measure; --profile chooses one.")
    indexes: Indexes = Field(Indexes(), description="Where further wheels come from.")
    exclusions: tuple[Exclusion, ...] = Field((), description="Cells that are left out, with reasons.")
    claims: dict[str, Claim] = Field({}, description="Sentences that the results support, refute or leave open.")
    _registry: Registry = PrivateAttr(BUILT_IN)
    _file: Path | None = PrivateAttr(None)

    @property
    def registry(self) -> Registry:
        """Return the registry of our own frameworks and workloads and those of the study's sources."""
        return self._registry

    @property
    def file(self) -> Path | None:
        """Return the file that the study was read from; None for tables that came from elsewhere."""
        return self._file

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Return {family: its environments}, oldest version first."""
        found: dict[str, tuple[str, ...]] = {}
        for name, environment in self.environments.items():
            if environment.family is not None:
                found[environment.family] = (*found.get(environment.family, ()), name)
        return found

    def named(self, names: Iterable[str]) -> list[str]:
        """Return the environments that names stand for: those of a family in the place of its name, each once."""
        families = self.families
        return list(dict.fromkeys(one for name in names for one in families.get(name, (name,))))

    def with_registry(self, registry: Registry) -> Study:
        copy = self.model_copy()
        copy._registry = registry
        return copy

    def from_file(self, file: Path) -> Study:
        copy = self.model_copy()
        copy._file = file
        return copy
