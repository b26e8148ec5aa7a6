"""Looks at processes from outside, and asks real workers."""

from __future__ import annotations

import time
from pathlib import Path

from bench.host.workers.protocol import Ended, Transport
from bench.worker import family

ROOT = Path(__file__).resolve().parents[2]
#: Seconds that tests wait for what comes at once: only a failure lasts so long, or a machine that stands still.
PATIENCE_S = 60.0


def prepare(worker: Transport, reference: str) -> None:
    worker.send(do="prepare", seed=1, reference=reference)


def end_of(worker: Transport, timeout_s: float = PATIENCE_S) -> Ended:
    """Take answers until the worker has ended, and return how it did."""
    try:
        while True:
            worker.receive(timeout_s)
    except Ended as ended:
        return ended


def alive(process: int) -> bool:
    return family.state(process) not in (None, "Z")


def gone(*processes: int) -> bool:
    """Wait for processes to end; return whether all have."""
    deadline = time.monotonic() + PATIENCE_S
    while any(map(alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, processes))


def cpu_ticks(process: int) -> int:
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
