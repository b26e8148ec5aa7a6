"""Finishes the processes of a row after their turns: the last checks, then the end of all workers at once."""

from __future__ import annotations

from collections.abc import Sequence

from ..storage.compile_caches import COMPILED
from .cell_process import CellProcess
from .job import RowJob
from .side_by_side import side_by_side


def finish(processes: Sequence[CellProcess], job: RowJob, processors: int) -> None:
    """Let the processes finish on so many ``processors``, and wait until their workers have ended.

    Nothing raises for what a worker does; its record tells it.
    """

    def verifies_growth(process: CellProcess) -> bool:
        return job.verifies_growth(process.name, compiled=process.record.first_call_cache in COMPILED)

    def request(process: CellProcess) -> None:
        process.request_finish(again=job.checks_again(process.name), growth=verifies_growth(process))

    # No sample is taken any more; but whether time grows with work is seen best without company.
    together = 1 if any(map(verifies_growth, processes)) else max(1, processors)
    side_by_side(processes, together, request, CellProcess.await_finish)
    # All at once, on all processors. Until now each was stopped, or a container that has ended: none ends beside one
    # that is verified.
    side_by_side(processes, len(processes), CellProcess.end_worker, CellProcess.await_end)
