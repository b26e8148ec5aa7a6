"""Knows what a plan is: the cells that one invocation measures, those it leaves out and why, and how thoroughly."""

from __future__ import annotations

from dataclasses import dataclass

from bench.cell import Cell

from .schema import Profile


@dataclass(frozen=True)
class Plan:
    """The cells of one invocation, in the order of the table: by row, then by column."""

    cells: tuple[Cell, ...]
    #: Cells that belong to the table but cannot or shall not be measured, each with its reason.
    excluded: tuple[tuple[Cell, str], ...]
    profile: Profile
    seed: int
    #: Threads of every framework.
    threads: int
