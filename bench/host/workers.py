"""Knows a worker process from the outside: starting it, talking to it within a time-out, stopping it while others
measure.

Nothing here raises for what a worker does; a worker that crashes, hangs or misbehaves ends with ``Ended``: a status,
a stage, a reason.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from bench.record import FAILED, OUT_OF_MEMORY, TIMEOUT

#: Variables of the host that a worker needs to find its libraries and devices. Everything else could steer the
#: measurement.
PASSED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH",
)  # fmt: skip
#: How much of a log's end belongs into a reason.
TAIL_LINES = 3
#: The worker announces its stages by itself; a worker that sends garbage without end is cut off here.
LONGEST_MESSAGE_BYTES = 64 << 20


class Ended(Exception):
    """The worker is no more; says with which status, in which stage and why."""

    def __init__(self, status: str, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.stage = stage
        self.reason = reason


def variables(threads: int, extra: Mapping[str, str], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Make a worker's environment: a short list of inherited variables, the thread numbers, and ``extra``."""
    made = {name: inherited[name] for name in PASSED if name in inherited}
    for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "BLIS"):
        made[f"{name}_NUM_THREADS"] = str(threads)
    made["TF_NUM_INTRAOP_THREADS"] = str(threads)
    made["TF_NUM_INTEROP_THREADS"] = "1"
    # A pool of compiler processes would outlive the compilation and disturb whoever measures.
    made["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    made.update(extra)
    return made


def oom_kills() -> int:
    """Read how many processes the kernel has killed for lack of memory; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


class Worker:
    """One process of one cell."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        variables: Mapping[str, str],
        log: Path,
        processors: Sequence[int],
    ) -> None:
        """Start ``command -m bench.worker`` in ``folder`` (the project's root); its output goes to ``log``.

        Raises Ended when the command cannot be started at all.
        """
        self.stage = "start"
        self._log = log
        self._gone = False
        self._pending = b""
        self._oom_kills = oom_kills()
        log.parent.mkdir(parents=True, exist_ok=True)
        bound = ["--processors", ",".join(map(str, processors))] if processors else []
        try:
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    [*command, "-m", "bench.worker", *bound],
                    cwd=folder,
                    env=dict(variables),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=output,
                    # A group of its own: Ctrl-C is the host's, and a stop reaches a framework's child processes too.
                    start_new_session=True,
                )
        except OSError as error:
            raise Ended(FAILED, "start", f"{command[0]} does not start: {error.strerror}") from error

    def send(self, **request: Any) -> None:
        """Send a request; a worker that is gone is noticed when its answer is awaited."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to a request, following the stages it goes through.

        Raises Ended when the worker dies, reports an end, says nothing for ``timeout_s`` seconds in one stage, or
        talks nonsense.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            line = self._line(deadline)
            if line is None:
                self.kill()
                raise Ended(TIMEOUT, self.stage, f"no answer within {timeout_s:g} s{self.log_tail()}")
            if not line:
                raise self._death()
            try:
                message = json.loads(line)
                event = message["event"]
            except (ValueError, TypeError, KeyError):
                self.kill()
                raise Ended(FAILED, self.stage, f"the worker sent {line[:80]!r}, which is no message") from None
            if event == "stage":
                self.stage = str(message["stage"])
                deadline = time.monotonic() + timeout_s
            elif event == "ended":
                self.close()
                raise Ended(str(message["status"]), str(message["stage"]), str(message["reason"]))
            elif event != "started":
                return dict(message)

    def _line(self, deadline: float) -> bytes | None:
        """Read one line; None at the deadline, empty at the end of the pipe."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return None
            chunk = os.read(descriptor, 1 << 16)
            if not chunk or len(self._pending) > LONGEST_MESSAGE_BYTES:
                return b"" if not chunk else self._pending
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        return line + b"\n"

    def _death(self) -> Ended:
        """Find out how the worker died."""
        self.resume()
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
            return Ended(FAILED, self.stage, "the worker closed its pipe and went on running")
        self.close()
        tail = self.log_tail()
        if code >= 0:
            return Ended(FAILED, self.stage, f"the worker ended with exit code {code}{tail}")
        if code == -signal.SIGKILL and oom_kills() > self._oom_kills:
            return Ended(OUT_OF_MEMORY, self.stage, "killed by the kernel for lack of memory")
        status = OUT_OF_MEMORY if "bad_alloc" in tail else FAILED
        return Ended(status, self.stage, f"killed by {signal.Signals(-code).name}{tail}")

    def log_tail(self) -> str:
        """Return the last lines of the worker's output, for the end of a reason."""
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - 8192))
                lines = file.read().decode(errors="replace").split("\n")
        except OSError:
            return ""
        said = [line.strip() for line in lines if line.strip()]
        return ": " + " | ".join(said[-TAIL_LINES:]) if said else ""

    def _signal(self, number: signal.Signals) -> None:
        # Once it is reaped its number may be somebody else's.
        if self._gone:
            return
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def pause(self) -> None:
        """Stop the process and its children, idle thread pools included."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """Close the pipe, give the worker a moment to end by itself, and make sure of it."""
        self.resume()
        self._close(self._process.stdin)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its children."""
        if self._gone:
            return
        self._signal(signal.SIGKILL)
        # A process that is stuck in a driver cannot be killed; it must not hold up the study.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=30)
        self._gone = True
        self._close(self._process.stdin)
        self._close(self._process.stdout)

    @staticmethod
    def _close(pipe: IO[bytes] | None) -> None:
        # What a dead worker never read is still in the buffer.
        with contextlib.suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()
