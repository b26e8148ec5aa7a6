"""Runs a worker as a process: starts it, sends requests, stops it while others are measured, and ends it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from bench.record import FAILED, OUT_OF_MEMORY
from bench.worker import family, scratch

from ..machine.addresses import fixed_addresses
from ..refusal import naming
from .guard import guard
from .log_limit import opened
from .protocol import Ended, Lines, receive, tail
from .requests import encode

#: Seconds in which a worker whose pipe was closed ends.
CLOSING_S = 5.0


def arguments(
    processors: Sequence[int],
    layout: int | None,
    sources: Mapping[str, str] = MappingProxyType({}),
    *,
    parent: bool = False,
) -> list[str]:
    """Return the command line of ``bench.worker``; ``sources`` are {name: folder} of other people's code.

    ``parent`` makes it the parent of workers: see ``bench.worker.parent``.
    """
    bound = ["--processors", ",".join(map(str, processors))] if processors else []
    named = [word for name, folder in sources.items() for word in ("--source", f"{name}={folder}")]
    drawn = [] if layout is None else ["--layout", str(layout)]
    return [*bound, *drawn, *(["--parent"] if parent else []), *named]


def oom_kills() -> int:
    """Read how many processes the kernel has killed for lack of memory; 0 where that is unknown."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def end_of(code: int, stage: str, log_tail: str, *, kernel_killed: bool) -> Ended:
    """Return how a process ended, by its exit code, which is negative for a signal.

    ``kernel_killed`` is true when the kernel killed a process of this machine for lack of memory meanwhile.
    """
    if code >= 0:
        return Ended(FAILED, stage, f"the worker ended with exit code {code}{log_tail}")
    if code == -signal.SIGKILL and kernel_killed:
        return Ended(OUT_OF_MEMORY, stage, "killed by the kernel for lack of memory")
    status = OUT_OF_MEMORY if "bad_alloc" in log_tail else FAILED
    return Ended(status, stage, f"killed by {signal_name(-code)}{log_tail}")


def signal_name(number: int) -> str:
    """Return the name of a signal; most real-time signals have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class WorkerProcess:
    """One process of one cell."""

    has_init = False
    import_alone: bool | None = None

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        variables: Mapping[str, str],
        log: Path,
        processors: Sequence[int],
        layout: int | None = None,
        sources: Mapping[str, str] = MappingProxyType({}),
        parent: bool = False,
    ) -> None:
        """Start ``command -m bench.worker`` in ``folder`` (the project's root); its output goes to ``log``.

        ``layout`` is the seed of its memory layout; ``parent`` makes it the parent of workers. Raises Ended when the
        command cannot be started at all.
        """
        self.stage = "start"
        self.log = log
        self._gone = False
        #: The processes that were stopped with it.
        self._stopped: list[int] = []
        self._lines = Lines(self.read)
        self._oom_kills = oom_kills()
        self._temporary = variables.get("TMPDIR") or tempfile.gettempdir()
        with naming(log):
            output = opened(log)
        self._guarded = guard().new_worker()
        try:
            with output, contextlib.nullcontext() if layout is None else fixed_addresses():
                self._process = subprocess.Popen(
                    [*command, "-m", "bench.worker", *arguments(processors, layout, sources, parent=parent)],
                    cwd=folder,
                    env={**variables, **self._guarded.variables},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=output,
                    # A session of its own: Ctrl-C reaches the host only, and signals reach child processes, too.
                    start_new_session=True,
                )
        except OSError as error:
            self._guarded.end()
            raise Ended(FAILED, "start", f"{command[0]} does not start: {error.strerror}") from error
        self._guarded = self._guarded.enclose(self._process.pid)

    @property
    def process_id(self) -> int:
        """The id of the process, which is also the id of its session."""
        return self._process.pid

    def send(self, **request: Any) -> None:
        """Send a request. If the worker has ended, ``receive`` raises Ended."""
        self.write(encode(request))

    def write(self, data: bytes) -> None:
        """Write to the pipe; a process that has ended reads nothing."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            return

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to a request. Raises Ended."""
        return receive(self, timeout_s)

    def line(self, deadline: float) -> bytes | None:
        """Read one line; None at the deadline, b"" at the end of the pipe."""
        return self._lines.next(deadline)

    def read(self, left_s: float) -> bytes | None:
        """Wait up to ``left_s`` seconds for a piece of what the process says: None when none came, b"" at the end."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        if not select.select([descriptor], [], [], left_s)[0]:
            if self._process.poll() is None:
                return None
            # What the process forked holds the pipe open.
            if not select.select([descriptor], [], [], 0)[0]:
                return b""
        return os.read(descriptor, 1 << 16)

    def find_end(self) -> Ended:
        """Return how the worker ended, after the end of its pipe."""
        self.resume()
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
            return Ended(FAILED, self.stage, "the worker closed its pipe and went on running")
        self.close()
        return end_of(code, self.stage, tail(self.log), kernel_killed=oom_kills() > self._oom_kills)

    def pause(self) -> None:
        """Stop the process and all that it started, idle thread pools included."""
        if self._holds_its_id:
            self._stopped = family.stop(self._process.pid)
            # All its threads have stopped when this returns, or it has ended.
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    @property
    def others(self) -> int:
        """How many processes were stopped with it last."""
        return len(self._stopped)

    def resume(self) -> None:
        if self._holds_its_id:
            family.resume(self._process.pid, self._stopped)

    @property
    def _holds_its_id(self) -> bool:
        """Tell whether no other process can have its id: it was not waited for."""
        return self._process.returncode is None

    def end_input(self) -> None:
        """Close the pipe, at which the worker ends; ``close`` waits for that."""
        self.resume()
        self._close(self._process.stdin)

    def close(self) -> None:
        """Close the pipe, wait some seconds for the worker to end, and kill it if it does not."""
        self.end_input()
        # Nobody waits for it yet: its number, and that of its group, must hold until what it left behind is killed.
        deadline = time.monotonic() + CLOSING_S
        while self._holds_its_id and time.monotonic() < deadline and family.state(self._process.pid) != "Z":
            time.sleep(0.002)
            if family.state(self._process.pid) is None:
                # A system without /proc does not tell: here it is waited for at once.
                self._process.poll()
        self.kill()

    def kill(self) -> None:
        """Kill the process and all that it started, and remove its temporary folder."""
        if self._gone:
            return
        if self._holds_its_id:
            family.end(self._process.pid)
        self._guarded.end()
        # A process that hangs in a driver cannot be killed; the study goes on without waiting for it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=30)
        self._gone = True
        scratch.remove_of(self._process.pid, self._temporary)
        self._close(self._process.stdin)
        self._close(self._process.stdout)

    @staticmethod
    def _close(pipe: IO[bytes] | None) -> None:
        # Requests that the worker did not read are still in the buffer.
        with contextlib.suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()
