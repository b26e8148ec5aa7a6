"""Makes the row jobs of a run of a study."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..executors.job import InstalledEnvironment, RowJob, RowRound
from ..storage import worker_logs
from ..study.plan import Plan
from ..study.schema import Study
from ..study.twin import original

#: A worker that needs more than this share of the free memory gets an error instead of exhausting the machine.
MEMORY_SHARE = 0.9


@dataclass(frozen=True)
class StudyJobs:
    """What all jobs of one run have in common."""

    #: Name of the run.
    run: str
    study: Study
    plan: Plan
    environments: Mapping[str, InstalledEnvironment]
    #: {workload: path of its input data for workers, None for synthetic inputs}
    data: Mapping[str, str | None]

    def make(self, row_round: RowRound, left_s: float | None, peaks: Mapping[str, Mapping[str, Any]]) -> RowJob:
        """Return the job of a row round; ``left_s`` is what is left of the budget, ``peaks`` are the machine's."""
        profile = self.plan.profile
        names = dict.fromkeys(original(cell.environment) for cell in row_round.cells)
        workload = row_round.cells[0].workload
        source = self.study.workloads[workload].data
        return RowJob(
            run=self.run,
            row_round=row_round,
            environments={name: self.environments[name] for name in names},
            threads=row_round.cells[0].threads,
            samples=profile.samples,
            sample_seconds=profile.sample_seconds,
            timeout_s=profile.timeout_s,
            data_seed=self.plan.seed,
            # Each run of a study draws its own orders and layouts; a continued run goes on with the same ones.
            order_seed=zlib.crc32(f"{self.plan.seed}/{self.run}".encode()),
            data=self.data[workload],
            data_source=None if source is None else str(source),
            memory_share=MEMORY_SHARE,
            cache_kept=profile.compile_cache == "kept",
            trial=profile.trial,
            placed_anew=not profile.trial,
            forked=profile.workers == "forked",
            most_threads=max(cell.threads for cell in self.plan.cells),
            # It varies little between processes, and takes long.
            energy_s=profile.energy_s if row_round.round == 0 else 0.0,
            peaks=peaks,
            left_s=left_s,
            sources=self.study.registry.others,
            log_label=worker_logs.label_of(row_round.round, row_round.attempt),
        )
