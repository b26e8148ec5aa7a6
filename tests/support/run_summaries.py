"""Makes summaries of runs, as files of a history have them."""

from __future__ import annotations

from bench.host.storage.run_summary import CellSummary, RunFacts, RunSummary


def summary(run: str = "20261122-031700-abcdef", cells: int = 2) -> RunSummary:
    facts = RunFacts(run=run, started="2026-11-22 03:17:00", settings=[{"threads": "2"}], machine={"processor": "A"})
    return RunSummary(
        facts,
        tuple(
            CellSummary(column="torch2:eager", row=f"gemm/size{i}/float32/cpu", threads=2, step_s=[1e-3, 1.1e-3])
            for i in range(cells)
        ),
    )
