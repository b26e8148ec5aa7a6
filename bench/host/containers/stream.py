"""Knows the pipe into a running container: requests in; messages out, told from the log by the frames of the engine.

An engine sends both outputs of a container over one connection, as frames: a byte that tells which output (1 or 2),
three zeros, the length in four bytes, big-endian, and so many bytes.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from pathlib import Path
from typing import Any

HEADER = struct.Struct(">BxxxL")
MESSAGES, LOG = 1, 2
PIECE_BYTES = 1 << 16


class Frames:
    """Frames out of the pieces in which they arrive; what belongs to a frame is passed on before all of it is there."""

    def __init__(self) -> None:
        self._header = b""
        self._output = 0
        self._left = 0

    def feed(self, piece: bytes) -> list[tuple[int, bytes]]:
        """Return what a piece adds to which output."""
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
        """``attached`` is what the SDK gives: a socket, or a file around one."""
        self._attached = attached
        self._socket: socket.socket = getattr(attached, "_sock", attached)
        self._frames = Frames()
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb", buffering=0)

    def send(self, data: bytes) -> None:
        """Send to the container's input; a container that is gone is noticed when its answer is awaited."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(None)
            self._socket.sendall(data)

    def read(self, left_s: float) -> bytes | None:
        """Wait for a piece of the messages: None when there was none in time, empty at the end."""
        deadline = time.monotonic() + left_s
        while (left := deadline - time.monotonic()) > 0:
            try:
                self._socket.settimeout(left)
                piece = self._socket.recv(PIECE_BYTES)
            except TimeoutError:
                return None
            except OSError:
                return b""
            if not piece:
                return b""
            said = b""
            for output, part in self._frames.feed(piece):
                if output == MESSAGES:
                    said += part
                elif output == LOG:
                    self._log.write(part)
            if said:
                return said
        return None

    def end_input(self) -> None:
        """Let the container see the end of its input."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def drain(self, timeout_s: float) -> bool:
        """Read to the end, for the log's sake; tell whether the end came in time."""
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0:
            piece = self.read(left)
            if not piece:
                return piece == b""
        return False

    def close(self) -> None:
        for end in (self._log, self._socket, self._attached):
            with contextlib.suppress(OSError):
                end.close()
