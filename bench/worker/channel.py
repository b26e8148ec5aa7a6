"""Knows how a worker talks to its host: JSON lines over a pipe of its own.

The worker is started with the pipe as its standard input and output. Before anything else is imported, both are moved
to private descriptors; descriptor 0 becomes empty and descriptor 1 the log. Whatever a framework prints, from Python
or from C, can no longer reach a record, and the same protocol works through a container, ssh or srun.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator


class Channel:
    """Requests in, messages out."""

    def __init__(self, requests: Any, messages: Any) -> None:
        self._requests = requests
        self._messages = messages

    @classmethod
    def take_over(cls) -> "Channel":
        """Move the standard streams away; to be called once, first thing in the process."""
        # os.dup makes descriptors that children do not inherit, so a compiler started by a framework cannot write here.
        requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
        messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        return cls(requests, messages)

    def requests(self) -> Iterator[Dict[str, Any]]:
        """Yield requests until the host closes the pipe."""
        for line in iter(self._requests.readline, ""):
            yield json.loads(line)

    def send(self, **message: Any) -> None:
        self._messages.write(json.dumps(message) + "\n")
        self._messages.flush()
