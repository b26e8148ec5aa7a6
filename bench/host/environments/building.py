"""Prepares the environments of a study; those that are still to be built are built side by side.

A build waits for the network and the disk more than it computes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import connection, get_context
from multiprocessing.context import ForkProcess
from pathlib import Path

from bench.registry import BUILT_IN, Registry

from ..interrupts import interrupted_by_signals
from . import forecast, outcome, prepare
from .buildable import Buildable
from .outcome import Prepared
from .venv import processor_count


def prepare_all(
    environments: Sequence[Buildable],
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
    # One alone is built in this process.
    statuses = _build(unbuilt, make, root) if len(unbuilt) > 1 else {}
    prepared = {}
    for each in environments:
        if each.name not in statuses:
            prepared[each.name] = make(each)
            continue
        built = outcome.load_outcome(each.name, root=root)
        if built is None:
            # Nothing was stored: it was killed, as by a system that is short of memory.
            reason = f"the process that built it ended with status {statuses[each.name]}"
            built = outcome.failed(each.name, reason)
            announce(f"{each.name}: {built.status}: {reason}")
        prepared[each.name] = built
    return prepared


def _build(environments: Sequence[Buildable], make: Callable[[Buildable], object], root: Path) -> dict[str, int | None]:
    """Build each environment in a process of its own, as many at once as there are processors; return their statuses.

    A build that this process does not outlive goes on and keeps the lock of the project, which it has inherited.
    """
    context = get_context("fork")
    waiting, statuses = list(environments), {}
    running: dict[int, tuple[str, ForkProcess]] = {}
    try:
        with interrupted_by_signals():
            while waiting or running:
                while waiting and len(running) < processor_count():
                    each = waiting.pop(0)
                    outcome.outcome_path(each.name, root).unlink(missing_ok=True)
                    process = context.Process(target=_build_one, args=(make, each))
                    process.start()
                    running[process.sentinel] = each.name, process
                for sentinel in connection.wait(list(running)):
                    assert isinstance(sentinel, int)
                    name, process = running.pop(sentinel)
                    process.join()
                    statuses[name] = process.exitcode
    finally:
        for _name, process in running.values():
            process.terminate()
        for _name, process in running.values():
            process.join()
    return statuses


def _build_one(make: Callable[[Buildable], object], environment: Buildable) -> None:
    """Build one environment; Ctrl-C reaches the process that waits for it, which then ends this one, once."""
    os.setpgid(0, 0)
    with contextlib.suppress(KeyboardInterrupt):
        make(environment)
