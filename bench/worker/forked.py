"""Runs a worker in a process that was forked: see ``parent``."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Tuple

from ..registry import Registry
from . import family, process
from .channel import Channel
from .imported import Imported
from .limits import mapped
from .scratch import Scratch
from .session import Session
from .timing.layout import Layout


class Start(NamedTuple):
    """What a forked worker begins with."""

    #: Its ends of three pipes.
    requests: int
    messages: int
    log: int
    #: Descriptors of its parent, which it closes.
    others: List[int]
    #: Where it runs; empty for where its parent does.
    processors: List[int]
    #: The seed of its memory layout, beyond what it has from its parent.
    layout: Optional[int]
    #: Environment variables that its parent lacks: they lead to its compilation cache.
    variables: Dict[str, str]


def run(parent: int, start: Start, registry: Registry, imported: Imported, pages: List[Tuple[int, Any]]) -> NoReturn:
    """Be the worker until its end, which is that of the process; ``parent`` is the process that forked."""

    def work() -> int:
        _leave(parent, start)
        if start.processors:
            process.move(start.processors)
        os.environ.update(start.variables)
        tempfile.tempdir = None
        mapped.touch(pages)
        layout = Layout(start.layout)
        layout.scatter()
        scratch = Scratch()
        gc.enable()
        pipe = Channel.over(start.requests, start.messages)
        code = pipe.serve(Session(pipe, scratch, layout, registry, imported))
        scratch.leave()
        return code

    process.exit_after(work)


def _leave(parent: int, start: Start) -> None:
    """Let go of what belongs to the parent, except that this process dies with it."""
    # A session of its own: signals reach the processes that a framework starts, too.
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor in (1, 2):
        os.dup2(start.log, descriptor)
    for other in (start.log, *start.others):
        if other >= 0:
            os.close(other)
    process.die_with_parent()
    family.adopt_orphans()
    if os.getppid() != parent:
        os._exit(1)
