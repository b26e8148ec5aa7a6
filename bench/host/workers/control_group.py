"""Keeps each worker in a control group of its own, where the kernel and the user's rights allow it (cgroup v2).

The kernel kills a group with everything in it, whatever left its session or its parent. The groups lie below that of
this process and limit nothing, so they change nothing about how a worker computes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

#: Seconds in which killed processes leave a group.
LEAVING_S = 2.0


def own_group() -> Path | None:
    """Return the folder of the control group that this process is in; None where there is no cgroup v2."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        inside = next((line[3:] for line in lines if line.startswith("0::")), None)
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    except OSError:
        return None
    for fields in mounts:
        root, point, kind = fields[3], fields[4], fields[fields.index("-") + 1]
        if kind == "cgroup2" and inside is not None and inside.startswith(root):
            return Path(point, inside.removeprefix(root).lstrip("/"))
    return None


def make(folder: Path, name: str) -> Path | None:
    """Make a group in the group ``folder``; None where this is not allowed."""
    group = folder / name
    try:
        group.mkdir()
    except FileExistsError:
        pass
    except OSError:
        return None
    return group


def put(group: Path, process: int) -> bool:
    """Move a process into a group, before it starts others; return whether that was allowed."""
    try:
        (group / "cgroup.procs").write_text(str(process))
    except OSError:
        return False
    return True


def end(group: Path) -> None:
    """Kill what is in a group and in those below it, and remove them."""
    deadline = time.monotonic() + LEAVING_S
    while group.is_dir() and time.monotonic() < deadline:
        try:
            (group / "cgroup.kill").write_text("1")
        except OSError:
            _kill_each(group)
        for below in sorted((Path(folder) for folder, _, _ in os.walk(group)), reverse=True):
            with contextlib.suppress(OSError):
                below.rmdir()
        time.sleep(0.001)


def _kill_each(group: Path) -> None:
    """Kill the processes of a group, for kernels before 5.14."""
    for folder, _, _ in os.walk(group):
        with contextlib.suppress(OSError):
            for process in Path(folder, "cgroup.procs").read_text().split():
                os.kill(int(process), signal.SIGKILL)
