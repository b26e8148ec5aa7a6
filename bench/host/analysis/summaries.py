"""Summarises the records of a run for a history: the time of each process, and what a comparison has to check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from bench.record import OK, SCHEMA_VERSION, Record

from ..refusal import Refused
from ..statistics.bootstrap import Estimate, estimate_median
from ..statistics.location import FloatArray
from ..statistics.pairs import pair_log_ratios
from ..storage import manifest, run_records, stored_runs
from ..storage.manifest import Manifest
from ..storage.run_summary import CellSummary, RunFacts, RunSummary, read
from ..study.baseline import CHOSEN
from ..study.twin import is_twin
from ..workers.field_types import first_problem
from .baselines import baselines_of
from .comparisons import rounds_of
from .quality import Quality, is_noisy_ratio, is_noisy_time, is_unsteady, withheld
from .results import Result
from .run_results import results_of

#: Significant digits of a time, and digits after the point of a log ratio: finer than any machine is steady.
TIME_DIGITS, RATIO_DIGITS = 6, 6
#: What decides that two cells of one name compute the same.
WORK = ("useful_flops", "compulsory_bytes", "items")


def load(path: Path) -> RunSummary:
    """Return the summary of a run: of the folder with its records, or a file of a history. Raises Refused."""
    if path.is_file():
        return read(path)
    described = run_records.describe(path)
    if described is None:
        raise Refused(f"{stored_runs.no_run(path)} Name a folder with records, or a run that nox -s runs lists.")
    damaged: list[str] = []
    records = run_records.read(path, described, damaged)
    try:
        summary = summarise(records, described)
    except ValidationError as error:
        # A description may hold facts of any form, as those of other machines.
        raise Refused(
            f"{path}: its run cannot be summarised: {first_problem(error)}. Correct {manifest.RUN}, or restore it from "
            "a copy."
        ) from None
    return replace(summary, damaged=tuple(damaged))


def summarise(records: Iterable[Record], described: Manifest) -> RunSummary:
    """Summarise a run; the twin is left out."""
    records = list(records)
    results = [result for result in results_of(records, described) if not is_twin(result.cell)]
    bases = baselines_of(results, described.study.baseline)
    tables: dict[str, list[dict[str, Any]]] = {"settings": [], "versions": [], "work": []}
    chosen = described.study.baseline in CHOSEN
    cells = tuple(_cell(result, bases.get(result.cell), tables, chosen=chosen) for result in results)
    facts = RunFacts(
        run=described.run,
        label=described.label,
        started=described.started,
        study=described.study.name,
        profile=described.profile.name,
        workers=described.profile.workers,
        trial=described.profile.trial,
        seed=described.seed,
        records_schema=max((record.schema for record in records), default=SCHEMA_VERSION),
        baseline=described.study.baseline,
        machine=_machine(described.machine),
        environments={name: _packages(one) for name, one in described.environments.items()},
        programs=dict(described.programs),
        settings=tables["settings"],
        versions=tables["versions"],
        work=tables["work"],
    )
    return RunSummary(facts, cells)


def is_disturbed(cell: CellSummary) -> bool:
    """Tell whether other programs disturbed a cell so much that reports withhold its time."""
    return withheld(cell.disturbed, len(cell.step_s))


def is_usable(cell: CellSummary) -> bool:
    """Tell whether a cell has a time that may be compared, as in reports."""
    return bool(cell.step_s) and cell.status == OK and not is_disturbed(cell)


def grade_of(cell: CellSummary, ratio: Estimate | None) -> Quality | None:
    """Grade the ratio of a cell, or its time where it has none, as reports do; None for a cell without a time."""
    if not cell.step_s:
        return None
    if is_disturbed(cell):
        return Quality.DISTURBED
    if cell.unsteady:
        return Quality.UNSTEADY
    noisy = is_noisy_time(estimate_median(np.array(cell.step_s))) if ratio is None else is_noisy_ratio(ratio)
    return Quality.NOISY if noisy else Quality.CLEAN


def with_disturbed_baselines(run: RunSummary) -> frozenset[tuple[str, str, int]]:
    """Return the keys of the cells whose ratios are to a time that other programs disturbed."""
    disturbed = {cell.key for cell in run.cells if is_disturbed(cell)}
    return frozenset(
        cell.key for cell in run.cells if (cell.base or run.facts.baseline, cell.row, cell.threads) in disturbed
    )


def _cell(
    result: Result, base: Result | None, tables: Mapping[str, list[dict[str, Any]]], *, chosen: bool
) -> CellSummary:
    """Summarise one cell; ``chosen`` says that each cell has a ``base`` of its own."""
    log_ratios = _log_ratios(result, base) if base is not None else np.empty(0)
    versions: dict[str, str] = {}
    for record in result.records:
        versions.update(record.versions)
    work = {name: result.work[name] for name in WORK if name in result.work}
    data = next((record.data for record in reversed(result.records) if record.data), "")
    return CellSummary(
        column=result.cell.column,
        row=result.cell.row,
        threads=result.cell.threads,
        status=result.status,
        reason=result.reason or "",
        step_s=[float(f"{process.location.median:.{TIME_DIGITS}g}") for process in result.timed],
        log_ratios=[round(value, RATIO_DIGITS) for value in log_ratios.tolist()],
        base=base.cell.column if chosen and base is not None else "",
        disturbed=sum(process.disturbed for process in result.timed),
        unsteady=is_unsteady(result, compared=len(log_ratios) > 0),
        settings=_index_in(tables["settings"], result.settings),
        versions=_index_in(tables["versions"], versions),
        work=_index_in(tables["work"], {**work, "data": data} if work or data else {}),
    )


def _log_ratios(result: Result, base: Result) -> FloatArray:
    """Return the log ratio of each pair, in the order of rounds: a ranking compares those with one number.

    Pairs come in the order of their keys as text, in which round 10 is before round 2.
    """
    keys, log_ratios = pair_log_ratios(result.turns, base.turns)
    return log_ratios[np.argsort(rounds_of(keys), kind="stable")]


def _index_in(table: list[dict[str, Any]], value: dict[str, Any]) -> int:
    """Return where a value is in a table; it is added where it is missing."""
    if value not in table:
        table.append(value)
    return table.index(value)


def _machine(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a machine as single values; several GPUs of one kind are one with their number."""
    plain = {name: value for name, value in machine.items() if not isinstance(value, list | dict)}
    gpus = [gpu for gpu in machine.get("gpus", ()) if isinstance(gpu, dict)]
    plain["gpus"] = ", ".join(str(gpu.get("name")) for gpu in gpus)
    drivers = dict.fromkeys(str(gpu["driver"]) for gpu in gpus if gpu.get("driver"))
    return {**plain, "driver": ", ".join(drivers)}


def _packages(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of what was installed in an environment, with its interpreter's."""
    interpreter = environment.get("interpreter") or {}
    packages = {str(name): str(version) for name, version in (environment.get("packages") or {}).items()}
    return {"python": str(interpreter.get("version", "")), **packages}
