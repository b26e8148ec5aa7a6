"""Defines the error for a command that cannot be done as it was given, or because a file or a folder is in its way."""

from __future__ import annotations

import contextlib
import errno
import unicodedata
from collections.abc import Iterator
from pathlib import Path

#: What to do about an error of the system.
REMEDIES = {
    errno.ENOSPC: "Free some space there; what was measured before is kept, and the same command continues",
    errno.EDQUOT: "Free some of your quota there; what was measured before is kept, and the same command continues",
    errno.EFBIG: "Allow larger files (ulimit -f); what was measured before is kept, and the same command continues",
    errno.EROFS: "Make it writable, or run in another folder",
    errno.EACCES: "Give yourself the right to use it, or run in another folder",
    errno.EPERM: "Give yourself the right to use it, or run in another folder",
    errno.ENOTDIR: "A file is where a folder must be; move it away",
    errno.EEXIST: "A file or a link is where a folder must be; move it away",
    errno.EISDIR: "A folder is where a file must be; move it away",
    errno.ENOTEMPTY: "A folder is in its place; move it away",
    errno.ENOENT: "A folder is missing, or a link leads nowhere; correct the path or the link",
    errno.ELOOP: "A link leads to itself; correct it",
    errno.ENAMETOOLONG: "Use shorter names",
    errno.EIO: "Check the disk or the network that it is on",
    errno.ESTALE: "Check the network that it is on",
}
#: The system has no more processes, threads, memory or open files.
EXHAUSTED = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
#: What Python says of a thread that the system refuses.
NO_THREAD = "can't start new thread"
#: The longest message that is printed, and the most lines of it.
LONGEST, MOST_LINES = 100_000, 500


class Refused(Exception):
    """A command cannot be done as it was given. The message says why and what to do.

    The command line prints the message, without a traceback, and exits with status 2.
    """


def describe(error: OSError, place: object = None) -> str:
    """Say in one line which file or folder cannot be used, why, and what to do."""
    where = place if place is not None else error.filename
    remedy = REMEDIES.get(error.errno or 0, "Correct this, then run the same again")
    return f"{where}: cannot be used: {error.strerror or error}. {remedy}."


def raised(error: BaseException, place: str) -> str:
    """Say in one line what other people's code raised, and where: ``mine/outputs/figure.py:12: KeyError: 'torch3'``."""
    return ": ".join(filter(None, (place, type(error).__name__, " ".join(str(error).split()))))


def exhausted(error: Exception) -> str | None:
    """Say what to do where the system refused a process, a thread, memory or an open file; None for other errors."""
    if isinstance(error, MemoryError):
        what = "memory"
    elif isinstance(error, OSError) and error.errno in EXHAUSTED:
        what = f"a process, memory or an open file: {error.strerror}"
    elif isinstance(error, RuntimeError) and NO_THREAD in str(error):
        what = "a thread"
    else:
        return None
    return (
        f"The system refused {what}. End other programs, or raise the limits of processes (ulimit -u), memory "
        "(ulimit -v) and open files (ulimit -n); what was measured before is kept, and the same command continues."
    )


@contextlib.contextmanager
def naming(place: Path, *, but: type[OSError] | None = None) -> Iterator[None]:
    """Turn an error of the system into Refused; it names the file of the error, ``place`` where it has none.

    Errors of the type ``but`` pass.
    """
    try:
        yield
    except OSError as error:
        if but is not None and isinstance(error, but):
            raise
        raise Refused(describe(error, error.filename or place)) from None


def harmless(text: str) -> str:
    """Return a message with its lines, without characters that steer a terminal, and not too long."""
    lines = text.split("\n")
    more = len(lines) - MOST_LINES
    shown = [visible(line[:LONGEST]) for line in lines[:MOST_LINES]]
    if more > 0:
        shown.append(f"… {more} more {'line' if more == 1 else 'lines'}")
    joined = "\n".join(shown)
    return joined if len(joined) <= LONGEST else f"{joined[:LONGEST]} …"


def visible(text: str) -> str:
    """Return the whole of ``text`` with its lines and tabs, without characters that steer a terminal."""
    return "".join(
        "\ufffd" if unicodedata.category(character)[0] == "C" and character not in "\t\n" else character
        for character in text
    )
