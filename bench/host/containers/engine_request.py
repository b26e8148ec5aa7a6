"""Knows how something is asked of an image: a command in a container like a cell's, and what it prints."""

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


class NoAnswer(Exception):
    """A container of the image does not run; the message says why."""


def ask(engine: Engine, image: str, command: Sequence[str], *, root: Path, bounds: Bounds) -> bytes:
    """Return what ``command`` prints in a container of ``image``. Raises NoAnswer."""
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
                said = _read(stream)
            code = int(engine.api.wait(container, timeout=ANSWER_S)["StatusCode"])
            if code != 0:
                raise NoAnswer(f"it ended with exit code {code}: {log.read_text(errors='replace').strip()[-500:]}")
            return said
    except ENGINE_ERRORS as error:
        raise NoAnswer(reason_of(error)) from None
    finally:
        if container:
            drop_container(engine, container)


def _read(stream: Stream) -> bytes:
    deadline, said = time.monotonic() + ANSWER_S, b""
    while (piece := stream.read(deadline - time.monotonic())) != b"":
        if piece is None:
            raise NoAnswer(f"it did not answer within {ANSWER_S} s")
        said += piece
    return said
