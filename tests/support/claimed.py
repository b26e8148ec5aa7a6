"""Makes runs of exact times for tests of claims, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.cell import Cell
from bench.host.analysis.claims import AnsweredClaim, AnsweredClaims, answer
from bench.host.analysis.run_analysis import analyse
from bench.host.storage.manifest import Manifest
from bench.host.study.claim import Claim
from bench.record import OK, Record

FRAMEWORKS = {"torch1": "torch", "torch2": "torch", "tf2": "tensorflow", "jax": "jax"}
STEP_NS = 1_000_000
#: {column: {workload: seconds of a step, in milliseconds}}
Times = Mapping[str, Mapping[str, float]]


def cell_of(column: str, workload: str, size: str = "small") -> Cell:
    environment, mode = column.split(":")
    return Cell(environment, FRAMEWORKS[environment], mode, workload, size, "float32", "cpu", 1)


def record(cell: Cell, number: int, time: float, **values: Any) -> Record:
    """Make a process that takes exactly ``time`` milliseconds per step."""
    sample = round(time * STEP_NS)
    made = Record(cell, number, 1, OK, sample_steps=[1] * 6, sample_ns=[sample] * 6, sample_turn=[0, 0, 1, 1, 2, 2])
    return replace(made, sample_cpu_ns=[sample] * 6, **values)


def records(times: Times, rounds: int) -> list[Record]:
    return [
        record(cell_of(column, workload), number, time)
        for column, own in times.items()
        for workload, time in own.items()
        for number in range(rounds)
    ]


def answers(found: Sequence[Record], *claims: Claim, looks: tuple[int, ...] = ()) -> AnsweredClaims:
    planned = tuple(dict.fromkeys(one.cell for one in found))
    looks = looks or (1 + max(one.round for one in found),)
    manifest = Manifest(planned=planned, looks=looks)
    baseline = replace(manifest, study=replace(manifest.study, baseline=planned[0].column))
    return answer(claims, analyse(found, baseline), baseline)


def only(found: Sequence[Record], **values: Any) -> AnsweredClaim:
    (one,) = answers(found, claim(**values)).claims
    return one


def claim(name: str = "c", **values: Any) -> Claim:
    given = {
        "says": "x",
        "columns": ("jax:jit",),
        "against": ("torch2:compile",),
        "workloads": ("*",),
        "factor": ">1",
        **values,
    }
    return Claim(name=name, **given)


def pair(factors: Sequence[float], rounds: int = 3) -> list[Record]:
    """Measure two columns on so many workloads, of which the first is better by these factors."""
    workloads = {f"w{number}": factor for number, factor in enumerate(factors)}
    return records({"jax:jit": dict.fromkeys(workloads, 1.0), "torch2:compile": workloads}, rounds)
