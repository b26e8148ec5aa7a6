"""Starts a worker, or the parent of workers: requests in, messages out, over a pipe of its own (see channel)."""

from __future__ import annotations

import os
import sys

from ..registry import Registry
from . import channel, family, process
from .scratch import Scratch
from .timing import layout


def main(scratch: Scratch) -> int:
    requests, messages = channel.take_over()
    process.die_with_parent()
    family.adopt_orphans()
    given = process.arguments(sys.argv[1:])
    if given.processors:
        process.pin(given.processors)
    memory_layout = layout.Layout(given.layout)
    memory_layout.scatter()
    memory_layout.shift()
    registry = Registry.of(dict(given.source))
    # Late imports: NumPy may print, and it starts threads that must inherit the affinity.
    if given.parent:
        from .parent import Parent

        return Parent(requests, messages, scratch, registry).serve()
    from . import session

    pipe = channel.Channel.over(requests, messages)
    return pipe.serve(session.Session(pipe, scratch, memory_layout, registry))


if __name__ == "__main__":
    scratch = Scratch()
    code = main(scratch)
    scratch.leave()
    sys.stdout.flush()
    sys.stderr.flush()
    # A framework takes up to a second to shut down, while others wait for the processors.
    os._exit(code)
