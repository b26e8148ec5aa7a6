"""Limits the log of a worker: what a framework prints must not fill the disk.

A worker writes to the file itself, so that nothing of the host takes part while it is timed. The host looks at the size
between two messages, and once a second while it waits, and cuts out the middle of a log that is too large. What forked
workers print comes through the host, which looks at the size when it has written.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO

#: A log that is larger loses its middle; its first and last bytes are kept.
LIMIT_BYTES = 64 << 20
HEAD_BYTES, TAIL_BYTES = 32 << 20, 16 << 20
#: Seconds between two looks while the host waits.
INTERVAL_S = 1.0


def limit(log: Path) -> None:
    """Cut out the middle of a log that is too large. The worker must append to it."""
    try:
        # After each message: nothing else is done where the log is short.
        size = os.stat(log).st_size
    except OSError:
        return
    if size > LIMIT_BYTES:
        _cut(log)


def _cut(log: Path) -> None:
    """Cut out the middle. The worker goes on: what it appends between the last reading and the cut is lost."""
    with contextlib.suppress(OSError), open(log, "rb+", buffering=0, opener=_appending) as file:
        file.seek(-TAIL_BYTES, os.SEEK_END)
        last = file.readall()
        left_out = file.tell() - HEAD_BYTES - TAIL_BYTES
        os.ftruncate(file.fileno(), HEAD_BYTES)
        # At the end, wherever that is by now: nothing is overwritten.
        note = b"\n[%d bytes are left out here: the log was too large]\n" % left_out
        file.write(note + last[-TAIL_BYTES:])


def _appending(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND)


def opened(log: Path) -> BinaryIO:
    """Open an empty log to append to it: what is written after a cut must not leave a gap."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    return log.open("ab", buffering=0)
