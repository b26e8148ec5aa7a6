"""Says what works on an operating system. Measuring rests on interfaces of Linux; macOS has some of them.

noxfiles import it first, so it needs the standard library alone.
"""

from __future__ import annotations

import sys

LINUX, MACOS = "linux", "darwin"
#: Runs a checkout's default study in a container that has Linux.
CONTAINER = 'docker run --rm -it -v "${PWD}:/work" -w /work python:3.11 python noxfile.py'
#: What a shell expects of a command that was called wrongly, or cannot be done.
EXIT_MISUSE = 2
#: What a gate on slowdowns ends with.
EXIT_GATE = 3


def notice(platform: str = sys.platform) -> str | None:
    """Say in one line what works on a system that is not Linux; None on Linux."""
    if platform == LINUX:
        return None
    if platform == MACOS:
        return (
            "benchmatrix on macOS, which nobody has tested: processes are not bound to processors, waiting times are "
            f"unknown; the report says so. Linux in a container: {CONTAINER}"
        )
    return f"benchmatrix needs Linux; this is {platform}. Use WSL 2, or a container: {CONTAINER}"


def verify(platform: str = sys.platform) -> None:
    """End with the notice where nothing works: on neither Linux nor macOS."""
    if platform not in (LINUX, MACOS):
        print(notice(platform), file=sys.stderr)
        raise SystemExit(EXIT_MISUSE)


def forks() -> bool:
    """Tell whether a process that has imported a framework can be forked; Apple's libraries do not allow it."""
    return sys.platform == LINUX
