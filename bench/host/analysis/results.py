"""Defines the result of a cell: its status, its step time, and what was measured beside it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bench.cell import Cell
from bench.record import Record

from ..statistics.bootstrap import Estimate
from ..statistics.location import Location, spread_between
from ..statistics.pairs import Process, Ratio
from ..statistics.roofline import Achieved
from ..statistics.spread import Spread, judge
from ..statistics.verdict import ALPHA, Verdict
from ..storage.manifest import Stop
from ..storage.manifest_schema import FrameworkNames
from . import consumption
from .compilation import recompilations
from .disturbances import Disturbances
from .fairness import Difference, settings_of
from .latency import Latency, latency_of
from .medians import median, median_ratio
from .processes import TimedProcess
from .quality import Quality, quality_of
from .row_key import row_key
from .versions import names_of
from .warmups import WarmUp, warm_up_of

#: The status of a cell without a record: the run ended before it, or the study excludes it.
NOT_RUN = "not run"
EXCLUDED = "excluded"


@dataclass(frozen=True)
class Comparison:
    """The time of one cell over the baseline's, with its verdict."""

    ratio: Ratio
    #: All are None where the data could not give a verdict. By Benjamini-Hochberg…
    adjusted_p: float | None = None
    #: …and by Holm: what is as small as this for one comparison may be claimed of it alone.
    claim_p: float | None = None
    verdict: Verdict | None = None

    @property
    def claimed(self) -> bool:
        """Tell whether the difference may be claimed of this comparison alone."""
        return self.verdict is Verdict.DIFFERENT and self.claim_p is not None and self.claim_p <= ALPHA


@dataclass(frozen=True)
class Result:
    """The summary of one cell over all of its processes."""

    cell: Cell
    #: A record's status, ``not run`` or ``excluded``.
    status: str
    stage: str | None = None
    reason: str | None = None
    records: tuple[Record, ...] = ()
    #: The processes that count; empty unless the status is ``ok``.
    timed: tuple[TimedProcess, ...] = ()
    #: Seconds per step.
    step: Estimate | None = None
    #: Of the medians, and of the 90% quantiles.
    comparison: Comparison | None = None
    tail: Comparison | None = None
    #: The differences of settings that forbid the comparison in a strict study.
    refused: tuple[Difference, ...] = ()
    #: The run's noise floor that the verdict took into account.
    noise_floor: float | None = None
    #: Whether the cell that it is compared with is irregular.
    baseline_irregular: bool = False
    #: When the cell stopped, and why; None where that is not known.
    stop: Stop | None = None
    #: Steps after which faster steps have made up for a slower start; infinite where they never do. Compared with the
    #: best of its row: after which that one has.
    break_even: float | None = None
    disturbances: Disturbances = field(default_factory=Disturbances)
    achieved: Achieved | None = None
    #: See ``bench.host.measuring.largest_batch``.
    largest_batch: Mapping[str, Any] | None = None
    #: What the run says that its framework is called; None for one of ours.
    stored_names: FrameworkNames | None = None

    @cached_property
    def names(self) -> FrameworkNames:
        return self.stored_names or names_of(self.cell.framework)

    @property
    def ratio(self) -> Ratio | None:
        return self.comparison.ratio if self.comparison else None

    @property
    def verdict(self) -> Verdict | None:
        return self.comparison.verdict if self.comparison else None

    @cached_property
    def locations(self) -> tuple[Location, ...]:
        """Where the samples of each process lie."""
        return tuple(process.location for process in self.timed)

    @cached_property
    def turns(self) -> dict[Hashable, Process]:
        """The turns of each process, for a comparison with another cell."""
        return {process.key: process.turns for process in self.timed}

    @cached_property
    def warm_up(self) -> WarmUp | None:
        return warm_up_of(self.timed)

    @property
    def samples(self) -> tuple[int, ...]:
        """Samples of each process that count."""
        return tuple(location.n for location in self.locations)

    @cached_property
    def spread_between(self) -> float | None:
        """Spread of the processes' medians relative to their median."""
        return spread_between(np.array([location.median for location in self.locations])) if self.timed else None

    @cached_property
    def spread_within(self) -> float | None:
        """Interquartile range of a process's samples relative to its median: the median over processes."""
        return median(location.spread for location in self.locations)

    @cached_property
    def spread(self) -> Spread:
        return judge(self.locations)

    @property
    def irregular(self) -> bool:
        """Tell whether samples or processes lie far apart, or the time includes compilation."""
        return self.spread.is_large or (bool(self.timed) and recompilations(self.records) > 0)

    @cached_property
    def quality(self) -> Quality | None:
        return quality_of(self)

    @cached_property
    def cpu_per_wall(self) -> float | None:
        """Processor time of a sample over its wall time, median over processes.

        It is near the number of threads where they spin, and below one where the process waits for a processor.
        """
        timed = (process.record for process in self.timed if process.record.sample_cpu_ns)
        return median(median_ratio(record.sample_cpu_ns, record.sample_ns) for record in timed)

    @cached_property
    def cpu_s(self) -> float | None:
        """Processor seconds of one step, over all threads of the process: median over processes."""
        timed = (process.record for process in self.timed if process.record.sample_cpu_ns)
        return median(median_ratio(record.sample_cpu_ns, record.sample_steps) / 1e9 for record in timed)

    @cached_property
    def throughput(self) -> Estimate | None:
        """Items per second."""
        items = self.work.get("items")
        if self.step is None or not items:
            return None
        low, high = (bound and items / bound for bound in (self.step.high, self.step.low))
        return Estimate(items / self.step.value, low, high, self.step.n)

    @cached_property
    def latency(self) -> Latency | None:
        return latency_of(self.timed)

    @cached_property
    def work(self) -> dict[str, Any]:
        return next((record.work for record in reversed(self.records) if record.work), {})

    @cached_property
    def _first_calls(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for record in self.records:
            if record.first_call_s is not None:
                found.setdefault(record.first_call_cache or "cold", []).append(record.first_call_s)
        return found

    def first_call_s(self, cache: str) -> float | None:
        """Median seconds of the first calls with a ``cold`` or ``warm`` cache; without a cache it is cold."""
        return median(self._first_calls.get(cache, ()))

    def first_calls(self, cache: str) -> int:
        """Count the processes behind ``first_call_s``."""
        return len(self._first_calls.get(cache, ()))

    def import_s(self, *, alone: bool) -> float | None:
        """Return the median seconds of the imports that ran alone, or of those that ran beside others."""
        kept = (record for record in self.records if record.import_alone == alone)
        return median(record.import_s for record in kept if record.import_s is not None)

    @cached_property
    def _memory(self) -> dict[str, float | None]:
        names = dict.fromkeys(name for record in self.records for name in record.memory)
        return {name: consumption.memory_bytes(self.records, name) for name in names}

    def memory_bytes(self, name: str) -> float | None:
        """Median over processes of one of the memory figures of their records."""
        return self._memory.get(name)

    def joules(self, *, net: bool) -> float | None:
        """Energy of one step, median over processes; ``net`` of what the device takes at rest."""
        return consumption.joules(self.records, net=net)

    @cached_property
    def settings(self) -> dict[str, str]:
        """Its settings as text; all values of one that changed between its processes."""
        return settings_of(self.records)

    @property
    def peak_figure(self) -> str:
        """The memory figure of where the cell computes: the allocator's on a GPU, if it has one, else the process's."""
        allocated = self.cell.device == "gpu" and self.memory_bytes("allocated_peak_bytes") is not None
        return "allocated_peak_bytes" if allocated else "peak_bytes"

    @property
    def peak_bytes(self) -> float | None:
        """Peak memory where the cell computes; that of a process is net of the import."""
        return self.memory_bytes(self.peak_figure)


def columns_of(results: Sequence[Result]) -> list[str]:
    """List the columns, those of one environment side by side."""
    columns = {result.cell.column: result.cell.environment for result in results}
    environments = list(dict.fromkeys(columns.values()))
    return sorted(columns, key=lambda column: environments.index(columns[column]))


def by_row(results: Iterable[Result]) -> dict[tuple[str, int], list[Result]]:
    """Divide results by what they compute: only those of one row are compared."""
    rows: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        rows.setdefault(row_key(result.cell), []).append(result)
    return rows


def by_track(results: Iterable[Result]) -> dict[tuple[str, int], list[Result]]:
    """Divide results by device and number of threads: only those of one track are ranked together."""
    tracks: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        tracks.setdefault((result.cell.device, result.cell.threads), []).append(result)
    return tracks
