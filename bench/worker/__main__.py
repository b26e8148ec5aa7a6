"""Starts a worker: requests in, messages out, over a pipe of its own (see channel)."""

from __future__ import annotations

import os
import sys

from ..registry import Registry
from . import process
from .channel import Channel
from .scratch import Scratch
from .timing import layout


def main(scratch: Scratch) -> int:
    channel = Channel.take_over()
    process.die_with_parent()
    given = process.arguments(sys.argv[1:])
    if given.processors:
        process.pin(given.processors)
    memory_layout = layout.Layout(given.layout)
    memory_layout.scatter()
    memory_layout.shift()
    # A late import: NumPy may print, and it starts threads that must inherit the affinity.
    from . import session

    channel.send(event="started", python=sys.version.split()[0])
    cell = session.Session(channel, scratch, memory_layout, Registry.of(dict(given.source)))
    try:
        for request in channel.requests():
            cell.answer(request)
        return 0
    except Exception:
        # The error was reported over the pipe; the log gets the traceback.
        import traceback

        traceback.print_exc()
        return 1
    finally:
        cell.close()


if __name__ == "__main__":
    scratch = Scratch()
    code = main(scratch)
    scratch.leave()
    sys.stdout.flush()
    sys.stderr.flush()
    # A framework takes up to a second to shut down, while others wait for the processors.
    os._exit(code)
