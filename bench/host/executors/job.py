"""Defines the row job: "measure this row in this round" as a value that can be sent to another machine.

A job holds numbers, text and lists only, so that it can be written as JSON. What depends on the machine (processors,
memory, caches, references) is decided where the job runs; paths are valid there.

Schema history:
  1 (2026-11-22): first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bench.cell import Cell

from ..environments.outcome import Prepared
from ..study.environment import Environment
from . import turns

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class RowRound:
    """One row in one round: a fresh process per cell; all are alive together and take turns."""

    round: int
    row: str
    #: The cells that still have turns to take; a twin has its own name (see ``bench.host.study.twin``).
    cells: tuple[Cell, ...]
    #: The number of this attempt at the row in this round, from 1; above 1 after an interruption.
    attempt: int
    #: The turn at which each cell goes on.
    first_turns: tuple[int, ...]


@dataclass(frozen=True)
class InstalledEnvironment:
    """What starts the Python of an environment, what is installed there, and the variables that its workers get."""

    command: tuple[str, ...]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prepared: Prepared, environment: Environment) -> InstalledEnvironment:
        """Describe a prepared environment with the variables that the installation and the study give it."""
        variables = {**prepared.manifest.get("variables", {}), **environment.variables}
        return cls(prepared.command, prepared.manifest, variables)

    @classmethod
    def of_each(
        cls, prepared: Mapping[str, Prepared], environments: Mapping[str, Environment]
    ) -> dict[str, InstalledEnvironment]:
        """Describe prepared environments, by name, with what the tables of the same names say."""
        return {name: cls.of(one, environments[name]) for name, one in prepared.items()}

    @property
    def in_container(self) -> bool:
        return self.manifest.get("provider") == "container"


def describe_each(environments: Mapping[str, InstalledEnvironment]) -> dict[str, dict[str, Any]]:
    """Return what decides what is compiled and measured in environments: their manifests, with all variables."""
    return {name: {**each.manifest, "variables": dict(each.variables)} for name, each in environments.items()}


@dataclass(frozen=True)
class RowJob:
    """Everything that decides how a row is measured in one round, except the machine."""

    run: str
    row_round: RowRound
    #: {environment: how its workers start}; a twin starts in the environment of its original.
    environments: Mapping[str, InstalledEnvironment]
    #: Threads of every framework. As many processors are chosen where the job runs.
    threads: int
    #: Turns of every process, one sample each.
    samples: int
    sample_seconds: float
    #: Seconds that a cell may spend in one stage.
    timeout_s: float
    #: Seed of the parameters and inputs.
    data_seed: int
    #: Seed of the orders in which processes start and take turns, and of memory layouts.
    order_seed: int
    #: Path of the input data that workers read, and of what the study names as input; None for synthetic inputs.
    data: str | None = None
    data_source: str | None = None
    #: A worker that needs more than this share of the free memory gets an error; None for no limit.
    memory_share: float | None = None
    #: The workers import and prepare at the same time, the twin on other processors, and move to the bound processors
    #: afterwards. For runs that do not report imports and first calls. Where there are too few processors, the workers
    #: start one after the other.
    at_once: bool = False
    #: Seconds that each cell works, after its turns, so that the energy of a step can be read; 0 for not.
    energy_s: float = 0.0
    #: {column: {"slowdown": …, "sized_for": …}}: extra work that the validation of the method plants.
    planted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    #: Whether compiled code stays between runs; otherwise the run has compilation caches of its own.
    cache_kept: bool = False
    #: Whether the times mean nothing. Compiled code of trials is kept apart.
    trial: bool = False
    #: Peaks of the machine, {environment/device: rates}; a cell that exceeds them fails.
    peaks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Seconds of the budget that are left; disturbed turns are not repeated after that. None for no budget.
    left_s: float | None = None
    #: Whether workers are forked from processes that have imported the framework, one for each environment and round;
    #: otherwise each imports by itself.
    forked: bool = True
    #: The most threads of any row of the run, which processes have from which workers are forked; 0 for ``threads``.
    most_threads: int = 0
    #: Whether the round draws where the environments' libraries lie in memory.
    placed_anew: bool = False
    #: {name: folder} of plug-in sources, besides the package ``bench``: see ``bench.registry``.
    sources: Mapping[str, str] = field(default_factory=dict)
    #: Names of the cells whose outputs are checked again after timing; None for all.
    checked_again: tuple[str, ...] | None = None
    #: Names of the cells whose time is verified to grow with their work; None for all.
    growth_verified: tuple[str, ...] | None = None
    #: Names of the cells for which that is verified only where their process compiles: an earlier run verified them.
    growth_if_compiled: tuple[str, ...] = ()
    #: Last part of the names of the workers' logs.
    log_label: str = "job"
    schema: int = SCHEMA_VERSION

    @property
    def start_order(self) -> list[int]:
        """The order in which the processes of the cells are started and prepared, as indices of the cells."""
        now = self.row_round
        return turns.start_order(self.order_seed, now.round, now.row, len(now.cells))

    @property
    def layout_seed(self) -> int:
        """The seed of the memory layout that all processes of the row round share."""
        return turns.layout_seed(self.order_seed, self.row_round.round, self.row_round.row, self.row_round.attempt)

    @property
    def round_seed(self) -> int:
        """The seed of what all processes of the round share with the one that they are forked from."""
        return turns.round_seed(self.order_seed, self.row_round.round)

    def turn_order(self, turn: int) -> list[int]:
        """Return the order in which the processes take a turn, as indices of the start order."""
        now = self.row_round
        return turns.turn_order(self.order_seed, now.round, now.row, turn, len(now.cells))

    def checks_again(self, cell: str) -> bool:
        """Return whether the outputs of the cell of this name are checked again after timing."""
        return self.checked_again is None or cell in self.checked_again

    def verifies_growth(self, cell: str, *, compiled: bool) -> bool:
        """Return whether it is verified that the time of the cell of this name grows with its work.

        ``compiled`` says whether its process compiled what later ones find in a cache.
        """
        if self.growth_verified is None or cell in self.growth_verified:
            return True
        return compiled and cell in self.growth_if_compiled

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RowJob:
        """Rebuild a job; unknown keys are ignored, missing optional ones take their defaults.

        Raises ValueError for a job of a newer schema, and for other values.
        """
        if not isinstance(values, Mapping):
            raise ValueError("not a row job: a job is an object of JSON")
        schema = values.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA_VERSION:
            raise ValueError(
                f"schema {schema!r} is not one of 1 to {SCHEMA_VERSION}: update benchmatrix where the job runs"
            )
        try:
            kept = _known(cls, values)
            kept["row_round"] = _row_round(values["row_round"])
            for names in ("checked_again", "growth_verified", "growth_if_compiled"):
                if kept.get(names) is not None:
                    kept[names] = tuple(kept[names])
            kept["environments"] = {name: _environment(each) for name, each in values["environments"].items()}
            return cls(**kept)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a row job: {error!r}") from error


def _known(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: values[each.name] for each in fields(cls) if each.name in values}


def _row_round(values: Mapping[str, Any]) -> RowRound:
    cells = tuple(Cell.from_json(cell) for cell in values["cells"])
    return RowRound(**{**_known(RowRound, values), "cells": cells, "first_turns": tuple(values["first_turns"])})


def _environment(values: Mapping[str, Any]) -> InstalledEnvironment:
    return InstalledEnvironment(**{**_known(InstalledEnvironment, values), "command": tuple(values["command"])})
