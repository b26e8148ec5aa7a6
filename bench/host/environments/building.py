"""Prepares the environments of a study; those that are still to be built are built side by side.

A build waits for the network and the disk more than it computes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import ForkProcess
from multiprocessing.process import BaseProcess
from pathlib import Path

from bench.registry import BUILT_IN, Registry

from ..interrupts import admit_interrupts, deferring_interrupts, ignoring_interrupts, interrupted_by_signals
from ..machine.processors import available
from ..study.environment import Environment
from . import forecast, outcome, prepare
from .outcome import Prepared

#: More at once would wait for the disk, and each hashes and compiles with every processor.
MOST_AT_ONCE = 4
#: What a shell adds to the number of a signal that ended a process.
SIGNALLED = 128
#: A build that is asked to end removes gigabytes first. One that takes longer is stopped, or ignores SIGTERM.
ENDING_S = 30.0


def prepare_all(
    environments: Sequence[Environment],
    *,
    root: Path,
    announce: Callable[[str], None],
    registry: Registry = BUILT_IN,
    thorough: bool = False,
) -> dict[str, Prepared]:
    """Prepare each environment as ``prepare`` does, and return the outcomes.

    An interruption ends the builds, too, and is raised when they have ended.
    """
    make = partial(prepare, root=root, announce=announce, registry=registry, thorough=thorough)
    unbuilt = forecast.unbuilt(environments, root)
    prepared = {}
    with interrupted_by_signals():
        # One alone is built in this process.
        statuses = _build(unbuilt, make, root) if len(unbuilt) > 1 else {}
        for each in environments:
            status = statuses.get(each.name)
            built = None if status is None else outcome.load_outcome(each.name, root=root)
            if built is None and status is not None and not 0 <= status < SIGNALLED:
                # A system that is short of memory kills.
                built = outcome.failed(each.name, f"the process that built it ended with status {status}")
                announce(f"{each.name}: {built.status}: {built.reason}")
            # What failed there otherwise, as on a full disk, fails here with its message.
            prepared[each.name] = built or make(each)
    return prepared


def _build(environments: Sequence[Environment], make: Callable[[Environment], object], root: Path) -> dict[str, int]:
    """Build each environment in a process of its own, several at once; return the statuses by which they ended."""
    context = get_context("fork")
    waiting, statuses = list(environments), {}
    running: dict[int, tuple[str, ForkProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < min(len(available()), MOST_AT_ONCE):
                each = waiting.pop(0)
                outcome.outcome_path(each.name, root).unlink(missing_ok=True)
                process = context.Process(target=_build_one, args=(make, each))
                # One that is forked and not noted would not be ended.
                with deferring_interrupts():
                    process.start()
                    running[process.sentinel] = each.name, process
            for sentinel in connection.wait(list(running)):
                assert isinstance(sentinel, int)
                name, process = running.pop(sentinel)
                statuses[name] = _status(process)
    finally:
        with ignoring_interrupts():
            for _name, process in running.values():
                process.terminate()
            deadline = time.monotonic() + ENDING_S
            for _name, process in running.values():
                _status(process, max(0.0, deadline - time.monotonic()))
    return statuses


def _status(process: ForkProcess, left_s: float | None = None) -> int:
    """Wait for a build to end and return its status; kill one that takes longer than ``left_s``.

    Of one that was killed, an installer may be left, and is ended.
    """
    connection.wait([process.sentinel], left_s)
    assert process.pid is not None
    # Before it is joined: until then, no other process can have its number. Where only the ended build is left, some
    # systems do not find its group, and macOS refuses.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _build_one(make: Callable[[Environment], object], environment: Environment) -> None:
    """Build one environment, in a process that ends with the one that waits for it."""
    # Ctrl-C reaches that one alone, which ends this one, once; one that has come already is dropped.
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # This one is in the background now, where a terminal with ``stty tostop`` would stop what prints.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        admit_interrupts()
        make(environment)
    except KeyboardInterrupt as interrupt:
        if not parent.is_alive():
            _kill_all()
        raise SystemExit(SIGNALLED + getattr(interrupt, "number", signal.SIGINT)) from None
    except OSError:
        # Its message is the other process's, which meets the same.
        raise SystemExit(1) from None


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ENDING_S)
    _kill_all()


def _kill_all() -> None:
    """Kill this build and what its installers started: nobody else does, as what waited for it was killed."""
    os.killpg(os.getpid(), signal.SIGKILL)
