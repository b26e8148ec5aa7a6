"""Knows what must be said beside a number: why there is none, what went wrong, and where the cells of a row differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bench.cell import Cell
from bench.record import OK, Record

from ..statistics.steadiness import FACTOR, SPREAD
from .results import EXCLUDED, NOT_RUN, Result
from .table import shorten


def ending(record: Record) -> str:
    """Say where and why a process ended: ``timeout in measure: 300 s passed``."""
    where = f" in {record.stage}" if record.stage else ""
    return shorten(f"{record.status}{where}: {record.reason or 'no reason was recorded'}")


def status_notes(result: Result) -> tuple[str, ...]:
    """Explain a cell's status: nothing for one whose processes all ended well."""
    if result.status == NOT_RUN:
        return ("planned, but not run: the run ended before it",)
    if result.status == EXCLUDED:
        return (shorten(f"excluded by the study: {result.reason}"),)
    bad = [record for record in result.records if record.status != OK]
    good = len(result.records) - len(bad)
    notes = [f"{good} of {len(result.records)} processes ok"] if good and bad else []
    for text, number in Counter(ending(record) for record in bad).items():
        notes.append(text if number == len(bad) else f"{number} × {text}")
    if result.status == OK and result.step is None:
        notes.append("no timed samples")
    return ("; ".join(notes),) if notes else ()


def unsteady_notes(result: Result) -> tuple[str, ...]:
    """Say how the samples of a cell disagree, if they do, and how busy the processors were meanwhile."""
    found = result.steadiness
    if not found.unsteady:
        return ()
    clauses = []
    for number, what in (
        (found.wide, f"the middle half of the samples spans more than {SPREAD:.0%} of their median"),
        (found.slow, f"the median of the samples is more than {FACTOR:g} times their 10% quantile"),
    ):
        if number:
            clauses.append(f"in {number} of {found.processes} processes {what}")
    if found.ratio > FACTOR:
        clauses.append(f"the slowest process took {found.ratio:.1f} times as long as the fastest")
    if result.cpu_per_wall is not None:
        clauses.append(f"processor time {result.cpu_per_wall:.1f} × wall time")
    return (f"unsteady: {'; '.join(clauses)}",)


def ratio_notes(result: Result, baseline: Result | None) -> tuple[str, ...]:
    """Warn of a ratio to an unsteady baseline, or explain why a timed cell has none, where the study has a baseline."""
    if result.baseline_unsteady:
        return ("the baseline of this ratio is unsteady",)
    if result.step is None or result.ratio is not None or result is baseline:
        return ()
    if baseline is None:
        return ("no ratio: the baseline is not part of this row",)
    if baseline.step is None:
        return (f"no ratio: the baseline's status is {baseline.status}",)
    return ("no ratio: no process took turns with one of the baseline",)


def differing_settings(results: Sequence[Result]) -> tuple[str, ...]:
    """Name the settings that several cells of a row report, but not with the same value."""
    found: dict[str, dict[Cell, str]] = {}
    for result in results:
        for name, value in _settings(result).items():
            found.setdefault(name, {})[result.cell] = shorten(value, 60) or "empty"
    clauses = [f"{name} is {_distribution(values)}" for name, values in found.items() if len(set(values.values())) > 1]
    return (f"settings differ: {'; '.join(clauses)}",) if clauses else ()


def _distribution(values: Mapping[Cell, str]) -> str:
    """Say which columns have which value; the environment alone where all of its modes agree."""
    clauses = []
    for value in dict.fromkeys(values.values()):
        others = {cell.environment for cell, other in values.items() if other != value}
        having = dict.fromkeys(
            cell.column if cell.environment in others else cell.environment
            for cell, other in values.items()
            if other == value
        )
        clauses.append(f"{value} in {_enumerate(list(having))}")
    return ", ".join(clauses)


def _settings(result: Result) -> dict[str, str]:
    """Return a cell's settings as text; all values of one that changed between its processes."""
    found: dict[str, list[str]] = {}
    for record in result.records:
        for name, value in record.settings.items():
            found.setdefault(name, []).append(str(value))
    return {name: " or ".join(dict.fromkeys(values)) for name, values in found.items()}


def data_notes(results: Iterable[Result]) -> tuple[str, ...]:
    """Say where the input of a row came from, once for each source."""
    sources = dict.fromkeys(record.data for result in results for record in result.records if record.data)
    return tuple(shorten(f"input: {source}") for source in sources)


def versions(results: Iterable[Result]) -> str:
    """Name what computed in each environment: ``torch1: torch 1.13.1, numpy 1.26.4, python 3.11.7``."""
    found: dict[str, dict[str, list[str]]] = {}
    for result in results:
        for record in result.records:
            for name, version in record.versions.items():
                known = found.setdefault(record.cell.environment, {}).setdefault(name, [])
                if version not in known:
                    known.append(version)
    # The framework last come, first served: interpreter and NumPy are what every environment has.
    return "; ".join(
        f"{environment}: " + ", ".join(f"{name} {' or '.join(values)}" for name, values in reversed(names.items()))
        for environment, names in found.items()
    )


def _enumerate(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
