"""Knows what the records of a study come to: one result per cell, those that never ran included."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.cell import Cell
from bench.record import MISMATCH, OK, Record

from ..statistics.bootstrap import Estimate, estimate_median
from ..statistics.location import Location, locate, spread_between
from ..statistics.pairs import Process, Ratio, by_turn, compare, pair_log_ratios
from ..statistics.steadiness import Steadiness, judge
from ..statistics.verdict import Verdict, adjust_for_discovery, decide, minimum_pairs

#: What a cell without any record is: planned, but the run ended before it, or left out by the study.
NOT_RUN = "not run"
EXCLUDED = "excluded"

Processes = dict[Hashable, Process]


@dataclass(frozen=True)
class Result:
    """What one cell came to over all of its processes."""

    cell: Cell
    #: A record's status, ``not run`` or ``excluded``.
    status: str
    stage: str | None = None
    reason: str | None = None
    records: tuple[Record, ...] = ()
    #: One per process with timed samples; empty unless the status is ``ok``.
    locations: tuple[Location, ...] = ()
    #: Seconds per step.
    step: Estimate | None = None
    #: Time over the baseline's time.
    ratio: Ratio | None = None
    adjusted_p: float | None = None
    verdict: Verdict | None = None
    #: Whether the cell that ``ratio`` compares with is unsteady.
    baseline_unsteady: bool = False

    @property
    def samples(self) -> tuple[int, ...]:
        """Timed samples of each process."""
        return tuple(location.n for location in self.locations)

    @property
    def spread_between(self) -> float | None:
        """Spread of the processes' medians relative to their median."""
        return spread_between(np.array([location.median for location in self.locations])) if self.locations else None

    @property
    def spread_within(self) -> float | None:
        """Interquartile range of a process's samples relative to its median: the median over processes."""
        return median(location.spread for location in self.locations)

    @property
    def steadiness(self) -> Steadiness:
        return judge(self.locations)

    @property
    def cpu_per_wall(self) -> float | None:
        """Processor time of a sample over its wall time, median over processes.

        It tells threads that spin, near their number, from a process that waits for a processor, below one.
        """
        if not self.locations:
            return None
        timed = (record for record in self.records if record.status == OK and record.sample_cpu_ns)
        return median(float(np.median(np.divide(record.sample_cpu_ns, record.sample_ns))) for record in timed)

    @property
    def throughput(self) -> Estimate | None:
        """Items per second."""
        items = self.work.get("items")
        if self.step is None or not items:
            return None
        low, high = (bound and items / bound for bound in (self.step.high, self.step.low))
        return Estimate(items / self.step.value, low, high, self.step.n)

    @property
    def work(self) -> dict[str, Any]:
        return next((record.work for record in reversed(self.records) if record.work), {})

    def first_call_s(self, cache: str) -> float | None:
        """Median seconds of the first calls with a ``cold`` or ``warm`` cache; no cache at all is a cold one."""
        return median(
            record.first_call_s
            for record in self.records
            if record.first_call_s is not None and (record.first_call_cache or "cold") == cache
        )

    def memory_bytes(self, name: str) -> float | None:
        """Median over processes of one of the memory figures of their records."""
        return median(record.memory[name] for record in self.records if record.memory.get(name) is not None)

    @property
    def peak_bytes(self) -> float | None:
        """Peak memory where the cell computes: the allocator's on a GPU, the process's net of the import elsewhere."""
        allocated = self.memory_bytes("allocated_peak_bytes") if self.cell.device == "gpu" else None
        return self.memory_bytes("peak_bytes") if allocated is None else allocated


def median(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing."""
    found = list(values)
    return float(np.median(found)) if found else None


def timed_processes(records: Iterable[Record]) -> tuple[Processes, tuple[Location, ...]]:
    """Return the processes that ended well and have samples, by (round, attempt), and the location of each."""
    processes: Processes = {}
    locations = []
    for record in records:
        if record.status != OK or not record.sample_ns:
            continue
        step_s = np.array(record.sample_ns, dtype=np.float64) / (np.array(record.sample_steps) * 1e9)
        processes[record.round, record.attempt] = by_turn(step_s, np.array(record.sample_turn, dtype=np.int64))
        locations.append(locate(step_s))
    return processes, tuple(locations)


def result_of(cell: Cell, records: Sequence[Record]) -> tuple[Result, Processes]:
    """Summarise the records of one cell, of which there is at least one.

    A mismatch in any process speaks for the whole cell, since what it computed is in doubt; otherwise one process that
    ended well makes the cell ``ok``, and the others are told in a footnote.
    """
    statuses = [record.status for record in records]
    status = next((status for status in (MISMATCH, OK) if status in statuses), statuses[-1])
    last = next(record for record in reversed(records) if record.status == status)
    result = Result(cell, status, last.stage, last.reason, tuple(records))
    if status != OK:
        return result, {}
    processes, locations = timed_processes(records)
    if not locations:
        return result, {}
    step = estimate_median(np.array([location.median for location in locations]))
    return replace(result, locations=locations, step=step), processes


def row_key(cell: Cell) -> tuple[str, int]:
    """Return what cells must share to be compared."""
    return cell.row, cell.threads


def ratio_to(baseline: Mapping[Hashable, Process], processes: Mapping[Hashable, Process]) -> Ratio | None:
    """Compare with the baseline; None where no two processes took turns."""
    _, log_ratios = pair_log_ratios(processes, baseline)
    return compare(log_ratios) if len(log_ratios) else None


def with_verdicts(results: Sequence[Result]) -> list[Result]:
    """Add verdicts; the p values of all comparisons that can have one are adjusted together."""
    enough = [i for i, r in enumerate(results) if r.ratio is not None and r.ratio.estimate.n >= minimum_pairs()]
    adjusted = adjust_for_discovery(np.array([ratio.p for i in enough if (ratio := results[i].ratio)]))
    judged = list(results)
    for i, p in zip(enough, adjusted.tolist(), strict=True):
        ratio = results[i].ratio
        assert ratio is not None
        judged[i] = replace(results[i], adjusted_p=p, verdict=decide(ratio.estimate, p))
    return judged


def analyse(
    records: Iterable[Record], planned: Iterable[Cell], excluded: Iterable[tuple[Cell, str]], baseline: str | None
) -> list[Result]:
    """Return one result per cell: in the order planned, then cells that only records know, then those left out.

    ``baseline`` names a column, such as ``torch1:eager``; every other column of a row is compared with it.
    """
    by_cell: dict[Cell, list[Record]] = {cell: [] for cell in planned}
    for record in records:
        by_cell.setdefault(record.cell, []).append(record)
    results: list[Result] = []
    processes: dict[Cell, Processes] = {}
    for cell, own in by_cell.items():
        own.sort(key=lambda record: (record.round, record.attempt))
        result, processes[cell] = result_of(cell, own) if own else (Result(cell, NOT_RUN), {})
        results.append(result)
    baselines = {row_key(cell): found for cell, found in processes.items() if cell.column == baseline}
    unsteady = {row_key(r.cell) for r in results if r.cell.column == baseline and r.steadiness.unsteady}
    for i, result in enumerate(results):
        if result.step is not None and result.cell.column != baseline:
            key = row_key(result.cell)
            ratio = ratio_to(baselines.get(key, {}), processes[result.cell])
            results[i] = replace(result, ratio=ratio, baseline_unsteady=ratio is not None and key in unsteady)
    known = set(by_cell)
    results += [Result(cell, EXCLUDED, None, reason) for cell, reason in excluded if cell not in known]
    return with_verdicts(results)
