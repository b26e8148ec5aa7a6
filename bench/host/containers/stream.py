"""Sends requests to a running container and separates its messages (stdout) from its log (stderr).

An engine sends both outputs over one connection, as frames: one byte with the output (1 or 2), three zeros, the length
in four bytes, big-endian, and the data.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from pathlib import Path
from typing import Any

from ..workers.log_limit import opened

HEADER = struct.Struct(">BxxxL")
MESSAGES, LOG = 1, 2
PIECE_BYTES = 1 << 16
#: The shortest wait. A timeout of 0 has another meaning: the socket reports an error instead.
SHORTEST_S = 0.001


class Frames:
    """Parses frames from pieces of any length; the data of an incomplete frame is returned as it arrives."""

    def __init__(self) -> None:
        self._header = b""
        self._output = 0
        self._left = 0

    def feed(self, piece: bytes) -> list[tuple[int, bytes]]:
        """Return the data in ``piece``, each part with its output."""
        found = []
        while piece:
            if not self._left:
                wanted = HEADER.size - len(self._header)
                self._header, piece = self._header + piece[:wanted], piece[wanted:]
                if len(self._header) < HEADER.size:
                    break
                self._output, self._left = HEADER.unpack(self._header)
                self._header = b""
            part, piece = piece[: self._left], piece[self._left :]
            self._left -= len(part)
            if part:
                found.append((self._output, part))
        return found


class Stream:
    """The connection to one container's standard streams; its log goes to a file."""

    def __init__(self, attached: Any, log: Path) -> None:
        """``attached`` comes from the SDK: a socket, or a file around one."""
        self._attached = attached
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._frames = Frames()
        self._log = opened(log)

    def send(self, data: bytes) -> None:
        """Send to the container's input. Errors are ignored: the next read reports a container that is gone."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(None)
            self._socket.sendall(data)

    def read(self, left_s: float) -> bytes | None:
        """Wait up to ``left_s`` seconds for a piece of the messages: None when none came, empty at the end."""
        deadline = time.monotonic() + left_s
        while True:
            left = deadline - time.monotonic()
            try:
                self._socket.settimeout(max(left, SHORTEST_S))
                piece = self._socket.recv(PIECE_BYTES)
            except TimeoutError:
                return None
            except OSError:
                return b""
            if not piece:
                return b""
            messages = b""
            for output, part in self._frames.feed(piece):
                if output == MESSAGES:
                    messages += part
                elif output == LOG:
                    self._log.write(part)
            if messages or left <= 0:
                return messages or None

    def end_input(self) -> None:
        """Close the container's input."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def drain(self, timeout_s: float) -> bool:
        """Read to the end, so that the log is complete; return whether the end came in time."""
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0:
            piece = self.read(left)
            if not piece:
                return piece == b""
        return False

    def close(self) -> None:
        # The SDK keeps the answer with its socket. If that is closed first, Python 3.13 prints an error.
        answer = getattr(self._attached, "_response", None)
        for end in (self._log, answer, self._socket, self._attached):
            if end is not None:
                with contextlib.suppress(OSError):
                    end.close()
