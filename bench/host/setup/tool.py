"""Runs an installing tool quietly: shows that it still runs, and prints the end of its output when it fails."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

SIGN_OF_LIFE_S = 15.0
TAIL_LINES = 12
TAIL_CHARACTERS = 2000


class ToolFailed(Exception):
    """A tool ended with an error; ``tail`` is the end of its output."""

    def __init__(self, command: Sequence[str], status: int, output: str) -> None:
        self.command = tuple(command)
        self.status = status
        lines = [line.rstrip() for line in output.splitlines() if line.strip()]
        self.tail = "\n".join(lines[-TAIL_LINES:])[-TAIL_CHARACTERS:]
        ended = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        super().__init__(f"{os.path.basename(self.command[0])} {ended}: {self.tail or 'it printed nothing'}")

    @property
    def summary(self) -> str:
        """The last line that names an error, or else the last line."""
        lines = self.tail.splitlines() or [f"status {self.status}"]
        return next((line.strip() for line in reversed(lines) if "error" in line.lower()), lines[-1].strip())


def run_tool(
    command: Sequence[str],
    *,
    label: str,
    announce: Callable[[str], None],
    environ: Mapping[str, str],
    hold: int | None = None,
    cwd: str | None = None,
) -> None:
    """Run ``command`` to its end, and announce every few seconds that it still works.

    ``hold`` is the descriptor of a file lock that the tool holds until it ends. Raises ToolFailed, also where the
    command cannot be started.
    """
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environ),
                pass_fds=() if hold is None else (hold,),
                cwd=cwd,
            )
        except OSError as error:
            raise ToolFailed(command, 127, str(error)) from None
        try:
            while True:
                try:
                    status = process.wait(timeout=SIGN_OF_LIFE_S)
                    break
                except subprocess.TimeoutExpired:
                    announce(f"{label}, {time.monotonic() - start:.0f} s so far")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if status != 0:
            output.seek(0)
            raise ToolFailed(command, status, output.read().decode(errors="replace"))
