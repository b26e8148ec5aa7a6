"""Reads the committed runs: one line for each cell, with its time or the reason why it has none.

A time comes from ``results.csv``, the reason of a cell without one from ``run.json`` or the records, the date and the
machine from ``run.json``.
"""

from __future__ import annotations

import csv
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.host.analysis.results import EXCLUDED, NOT_RUN
from bench.host.analysis.versions import framework_version, names_of
from bench.host.refusal import Refused
from bench.host.reporting.words.labels import short_version
from bench.host.reporting.words.result_notes import not_run
from bench.host.reporting.words.text import shorten
from bench.host.statistics.bootstrap import Estimate
from bench.host.storage import journal, manifest
from bench.host.storage.manifest import Manifest
from bench.host.study import study_file
from bench.host.study.schema import Study
from bench.host.study.selection import reason_against
from bench.record import FAILED, OK
from bench.registry import BUILT_IN
from benchmarks._committed_lines import DISTURBED, OUTDATED, Column, Line, with_place
from benchmarks.public_tables import GENERATIONS, NAMES

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "reports" / "reference"
MISSING = re.compile(r"workload (\S+) has no (\S+) implementation")
#: Letters of a reason.
LONGEST = 120


@functools.cache
def load(folder: Path = FOLDER) -> tuple[Line, ...]:
    """Read every run in a folder, and in the folders of its runs."""
    lines = [line for file in sorted(folder.rglob("results.csv")) for line in _lines_of(file.parent, folder)]
    return tuple(_with_releases(lines))


def processor_of(machine: Mapping[str, Any], device: str) -> str:
    """Name what computed in few words: ``AMD EPYC Zen 5``, ``NVIDIA H100``; without what the run did not record."""
    if device == "gpu":
        return " ".join(str(machine["gpus"][0]["name"]).split()[:2])
    name = re.sub(r"\(R\)| Processor", "", str(machine.get("processor", "")))
    version = str(machine.get("processor_version") or "")
    if version in GENERATIONS:
        return f"{name} {GENERATIONS[version]}"
    return ", ".join(filter(None, (name, version.partition(", ")[2])))


def _lines_of(folder: Path, root: Path) -> Iterator[Line]:
    described = manifest.read(folder)
    if described is None:
        raise Refused(f"{folder / manifest.RUN} cannot be read; restore the file.")
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    versions = {row["environment"]: row["version"] for row in rows if row["version"]}
    reasons = _reasons(folder, described, {row["status"] for row in rows})
    for row in rows:
        environment, framework = row["environment"], row["framework"]
        names = names_of(framework, described.frameworks)
        installed = described.environments.get(environment, {}).get("packages", {})
        version = versions.get(environment) or framework_version(names, installed) or _named(environment)
        product = with_place(NAMES.get(environment, names.product))
        status, reason = _status(row, reasons.get((_coordinates(row), row["status"]), ""))
        yield Line(
            row["workload"],
            Column(product, version.partition("+")[0], row["mode"], framework),
            row["size"],
            row["precision"],
            row["device"],
            int(row["threads"]),
            processor_of(described.machine, row["device"]),
            status,
            reason,
            row["quality"],
            int(row["processes"]),
            _step(row),
            folder.relative_to(root).as_posix(),
            described.started,
        )


def _named(environment: str) -> str:
    """Return the version in the name of one of several environments, of which none was built: ``torch-1.13.1``."""
    found = re.search(r"-(\d[\d.]*)$", environment)
    return found[1] if found else ""


def _step(row: Mapping[str, str]) -> Estimate | None:
    if not row["step_s"]:
        return None
    low, high = (float(row[name]) if row[name] else None for name in ("step_low_s", "step_high_s"))
    return Estimate(float(row["step_s"]), low, high, int(row["processes"]))


def _status(row: Mapping[str, str], reason: str) -> tuple[str, str]:
    """Return the status of a row and why it has no time, as they are today and in few words."""
    status = row["status"]
    if status == OK:
        return (status, "") if row["step_s"] else (DISTURBED, "")
    if status == NOT_RUN:
        return status, not_run()
    if (missing := MISSING.fullmatch(reason)) is None:
        return status, shorten(reason, LONGEST)
    if not BUILT_IN.has_implementation(missing[1], missing[2]):
        return status, f"has no {names_of(missing[2]).product} implementation"
    study, cell = _full_study(), Cell.from_json(dict(row))
    today = reason_against(cell, study, chosen=True) if cell.environment in study.environments else None
    return (EXCLUDED, today) if today else (OUTDATED, "its program is newer than the runs")


@functools.cache
def _full_study() -> Study:
    return study_file.load(ROOT / "studies" / "full.toml")


def _coordinates(row: Mapping[str, Any]) -> tuple[str, ...]:
    names = ("workload", "size", "precision", "device", "threads", "environment", "mode")
    return tuple(str(row[name]) for name in names)


def _reasons(folder: Path, described: Manifest, statuses: set[str]) -> dict[tuple[tuple[str, ...], str], str]:
    """Return {coordinates and status of a cell: why it has no time}."""
    found = {(_coordinates(cell.to_json()), EXCLUDED): reason for cell, reason in described.excluded}
    # Most runs need not be read.
    for record in journal.read_lines(journal.path_of(folder)) if statuses - {OK, NOT_RUN, EXCLUDED} else ():
        if record["status"] != OK:
            cell = Cell.from_json(record["cell"])
            found[_coordinates(cell.to_json()), record["status"]] = str(record["reason"] or "")
    retracted = [cell for cell in described.planned if cell.column in described.retracted]
    return found | {(_coordinates(cell.to_json()), FAILED): described.retracted[cell.column] for cell in retracted}


def _with_releases(lines: Iterable[Line]) -> Iterator[Line]:
    """Shorten the versions of frameworks to releases, where no other version of the runs has the same one."""
    lines = list(lines)
    versions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for column in {line.column for line in lines}:
        versions[column.product, short_version(column.version)].add(column.version)
    for line in lines:
        column = line.column
        release = short_version(column.version)
        shown = release if len(versions[column.product, release]) == 1 else column.version
        yield line._replace(column=column._replace(version=shown))
