"""Finds the machine's number of a process in a container, which has another number inside."""

from __future__ import annotations

from pathlib import Path


def outside(first: int, inner: int, proc: Path = Path("/proc")) -> int | None:
    """Return the machine's number of the process that has the number ``inner`` in the container of process ``first``.

    None where there is none, or the kernel does not tell.
    """
    waiting = [first]
    while waiting:
        process = waiting.pop()
        try:
            status = (proc / str(process) / "status").read_text(errors="replace")
            children = (proc / str(process) / "task" / str(process) / "children").read_text().split()
        except OSError:
            continue
        numbers = next((line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")), [])
        if len(numbers) > 1 and int(numbers[-1]) == inner:
            return process
        waiting += map(int, children)
    return None
