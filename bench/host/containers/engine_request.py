"""Runs a command in a container of an image, isolated as a cell is, and returns what the command prints."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .engine import ENGINE_ERRORS, Engine, attach, reason_of
from .isolation import VARIABLES, Bounds, create
from .labels import checkout
from .leftovers import drop_container
from .stream import Stream

ANSWER_S = 120


class CommandFailed(Exception):
    """A command in a container did not succeed; the message gives the reason."""


def run_command(engine: Engine, image: str, command: Sequence[str], *, root: Path, bounds: Bounds) -> bytes:
    """Return what ``command`` prints in a container of ``image``. Raises CommandFailed."""
    container = ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            container = create(
                engine, image, command, folder=root, variables=VARIABLES, bounds=bounds, checkout=checkout(root)
            )
            stream = Stream(attach(engine, container), log)
            with contextlib.closing(stream):
                engine.api.start(container)
                stream.end_input()
                output = _read(stream)
            code = int(engine.api.wait(container, timeout=ANSWER_S)["StatusCode"])
            if code != 0:
                raise CommandFailed(f"it ended with exit code {code}: {log.read_text(errors='replace').strip()[-500:]}")
            return output
    except ENGINE_ERRORS as error:
        raise CommandFailed(reason_of(error)) from None
    finally:
        if container:
            drop_container(engine, container)


def _read(stream: Stream) -> bytes:
    deadline, output = time.monotonic() + ANSWER_S, b""
    while (piece := stream.read(deadline - time.monotonic())) != b"":
        if piece is None:
            raise CommandFailed(f"it did not end within {ANSWER_S} s")
        output += piece
    return output
