"""Writes ``samples.parquet``: one row per timed sample of every process, typed, for DuckDB, pandas, polars or R."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.record import Record

if TYPE_CHECKING:
    from ..report import Report

NAME = "samples.parquet"

#: The lists of a record that have a value per sample, and their names in the file.
SAMPLES = {
    "turn": "sample_turn",
    "steps": "sample_steps",
    "wall_ns": "sample_ns",
    "cpu_ns": "sample_cpu_ns",
    "wait_ns": "sample_wait_ns",
}
COORDINATES = ("environment", "framework", "mode", "workload", "size", "precision", "device")
TEXTS = ("run", *COORDINATES, "status")
#: A value that the kernel did not report; it becomes NULL.
MISSING = -1


def write(report: Report, folder: Path) -> list[Path]:
    # A late import: it takes as long as several outputs.
    import duckdb

    results = (*report.analysis.results, *report.analysis.twins)
    records = [record for result in results for record in result.records if record.sample_ns]
    path = folder / NAME
    # One thread passes the samples by the processes in their order. Sorting them afterwards, or several threads that
    # each hold a part of the file, take 500 MiB for a million samples.
    with duckdb.connect(config={"threads": 1}) as database:
        # What takes more than two seconds would draw its progress over that of the run.
        database.execute("set enable_progress_bar = false")
        database.execute("set disabled_optimizers = 'join_order,build_side_probe_side'")
        database.register("process", _processes(records))
        database.register("sample", _samples(records))
        # Without any row a column of texts has no type.
        texts = ", ".join(f"{name}::varchar as {name}" for name in TEXTS)
        values = ", ".join(f"nullif({name}, {MISSING}) as {name}" for name in SAMPLES)
        try:
            database.execute(
                f"copy (select process.* exclude process replace ({texts}), {values}, disturbed "
                "from sample join process using (process)) "
                f"to '{_quoted(path)}' (format parquet, compression zstd)"
            )
        except duckdb.IOException as error:
            raise _system_error(error, path) from None
    return [path]


def _system_error(error: Exception, path: Path) -> OSError:
    """Return what the system said to the library, such as that the disk is full."""
    found = re.search(r'"errno":"([0-9]+)"', str(error))
    number = int(found[1]) if found else errno.EIO
    return OSError(number, os.strerror(number), str(path))


def _processes(records: Sequence[Record]) -> dict[str, Any]:
    """Return one row per process: what all its samples share."""
    found = {"process": np.arange(len(records)), "run": _texts(record.run for record in records)}
    found |= {name: _texts(getattr(record.cell, name) for record in records) for name in COORDINATES}
    found |= {"threads": np.array([record.cell.threads for record in records], np.int32)}
    found |= {name: np.array([getattr(record, name) for record in records], np.int32) for name in ("round", "attempt")}
    return found | {"status": _texts(record.status for record in records)}


def _samples(records: Sequence[Record]) -> dict[str, Any]:
    """Return one row per sample, in the order in which a process took them."""
    counts = [len(record.sample_ns) for record in records]
    found: dict[str, Any] = {
        "process": np.repeat(np.arange(len(records)), counts),
        "number": np.concatenate([np.arange(count) for count in counts]) if counts else np.zeros(0, np.int64),
        "disturbed": np.fromiter(chain.from_iterable(map(_disturbed, records)), bool),
    }
    for name, attribute in SAMPLES.items():
        found[name] = np.fromiter(chain.from_iterable(_padded(record, attribute) for record in records), np.int64)
    return found


def _disturbed(record: Record) -> Iterable[bool]:
    """Tell of each sample whether its turn was disturbed."""
    if not record.disturbed:
        return repeat(False, len(record.sample_ns))
    return (str(turn) in record.disturbed for turn in _padded(record, "sample_turn"))


def _padded(record: Record, attribute: str) -> Sequence[int]:
    """Return one value per sample, ``MISSING`` where a list is empty or cut short."""
    values: list[int] = getattr(record, attribute)
    count = len(record.sample_ns)
    return values if len(values) == count else [*values, *[MISSING] * count][:count]


def _texts(values: Iterable[str]) -> Any:
    texts = list(values)
    # JSON can hold a lone surrogate; a file in UTF-8 cannot.
    written = {text: text.encode("utf-8", "replace").decode() for text in set(texts)}
    return np.array([written[text] for text in texts], dtype=object)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
