"""Exchanges requests and messages with the host, as JSON lines over a private pipe.

The host starts the worker with the pipe as its standard input and output. Before any other import, both move to private
descriptors; descriptor 0 becomes empty and descriptor 1 the log. So nothing that a framework prints, from Python or
from C, can reach a record. The same protocol works through a container, ssh or srun.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any, Dict, Iterator, Tuple


class Channel:
    """The worker's end of the pipe: reads requests, writes messages."""

    def __init__(self, requests: Any, messages: Any) -> None:
        self._requests = requests
        self._messages = messages

    @classmethod
    def over(cls, requests: int, messages: int) -> "Channel":
        """Make a channel of two descriptors."""
        return cls(os.fdopen(requests, "r", encoding="utf-8"), os.fdopen(messages, "w", encoding="utf-8"))

    def requests(self) -> Iterator[Dict[str, Any]]:
        """Yield requests until the host closes the pipe."""
        for line in iter(self._requests.readline, ""):
            yield json.loads(line)

    def send(self, **message: Any) -> None:
        self._messages.write(json.dumps(message) + "\n")
        self._messages.flush()

    def serve(self, cell: Any) -> int:
        """Let ``cell`` answer requests until the host closes the pipe, or one fails; return the process's exit code."""
        self.send(event="started", python=sys.version.split()[0])
        try:
            for request in self.requests():
                cell.answer(request)
            return 0
        except Exception:
            # The error was reported over the pipe; the log gets the traceback.
            traceback.print_exc()
            return 1
        finally:
            cell.close()


def take_over() -> Tuple[int, int]:
    """Move the standard streams to private descriptors, for requests and for messages, and return these.

    Call it once, before anything else in the process.
    """
    # Children do not inherit descriptors from os.dup, so a compiler started by a framework cannot write here.
    requests, messages = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return requests, messages
