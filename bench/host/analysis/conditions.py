"""Knows what run.json says that a reader of the tables must know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.cell import Cell

from ..reporting.tables.table import printable


@dataclass(frozen=True)
class Stop:
    """After how many rounds a row stopped, and why: see ``bench.host.measuring.stopping``."""

    rounds: int
    why: str


@dataclass(frozen=True)
class Conditions:
    """The conditions of one run; what an unfinished or older one lacks has its default."""

    name: str
    title: str
    baseline: str | None
    profile: str
    #: Whether compiled code stays between runs, shared by the cells of an environment.
    cache_kept: bool
    planned: tuple[Cell, ...]
    excluded: tuple[tuple[Cell, str], ...]
    seed: Any = None
    machine: str = ""
    finished: bool = True
    #: Turns planned for each process; what comes after them repeats disturbed ones.
    turns: int | None = None
    #: Rounds after which verdicts are looked at, ascending; empty where the run does not tell.
    looks: tuple[int, ...] = ()
    #: {row: its stop}
    stopped: Mapping[str, Stop] = field(default_factory=dict)
    #: Whether cells whose settings differ from the baseline's get no ratio.
    strict: bool = False
    #: What the machine can do at most: see ``bench.host.measuring.peaks.combine``.
    peaks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: {name of a cell: what fits}
    largest_batch: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Mapping[str, Any]) -> Conditions:
        """Read the content of a run.json."""
        study, machine = run.get("study") or {}, run.get("machine") or {}
        name = str(study.get("name") or "study")
        profile = run.get("profile") or {}
        gpus = dict.fromkeys(str(gpu.get("name")) for gpu in machine.get("gpus") or ())
        # A run that does not name its looks was looked at once, when it was over.
        looks = run.get("looks") or ([profile["rounds"]] if profile.get("rounds") else [])
        return cls(
            name=name,
            title=printable(str(study.get("title") or name)).rstrip("."),
            baseline=study.get("baseline"),
            profile=str(profile.get("name") or "unnamed"),
            cache_kept=profile.get("compile_cache") == "kept",
            planned=tuple(Cell.from_json(cell) for cell in run.get("planned") or ()),
            excluded=tuple((Cell.from_json(cell), str(reason)) for cell, reason in run.get("excluded") or ()),
            seed=run.get("seed"),
            machine=" with ".join(filter(None, (str(machine.get("processor") or ""), ", ".join(gpus)))),
            finished=bool(run.get("finished", True)),
            turns=profile.get("samples"),
            looks=tuple(looks),
            stopped={row: Stop(stop["rounds"], stop["why"]) for row, stop in (run.get("stopped") or {}).items()},
            strict=bool(run.get("strict")),
            peaks=run.get("peaks") or {},
            largest_batch=run.get("largest_batch") or {},
        )
