"""Looks at processes from outside, and asks real workers."""

from __future__ import annotations

import time
from pathlib import Path

from bench.host.workers.protocol import Ended, Transport
from bench.worker import family

ROOT = Path(__file__).resolve().parents[2]


def prepare(worker: Transport, reference: str) -> None:
    worker.send(do="prepare", seed=1, reference=reference)


def end_of(worker: Transport, timeout_s: float = 20.0) -> Ended:
    """Take answers until the worker has ended, and return how it did."""
    try:
        while True:
            worker.receive(timeout_s)
    except Ended as ended:
        return ended


def alive(process: int) -> bool:
    return family.state(process) not in (None, "Z")


def gone(process: int, seconds: float = 5.0) -> bool:
    """Wait so long for a process to end."""
    deadline = time.monotonic() + seconds
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(process)


def cpu_ticks(process: int) -> int:
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
