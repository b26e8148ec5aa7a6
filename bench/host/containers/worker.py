"""Runs one cell's worker in a container, with the same protocol as a worker process."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import docker.errors

from bench.record import FAILED, OUT_OF_MEMORY, OUTSIDE, UNSUPPORTED

from ..workers.protocol import Ended, Lines, receive, tail
from ..workers.requests import encode
from ..workers.worker_process import oom_kills
from .engine import (
    ENGINE_ERRORS,
    Engine,
    NoEngine,
    attach,
    is_reachable,
    reason_of,
)
from .exit_status import STOPPED, exit_of
from .isolation import Bounds, create
from .leftovers import drop_container
from .stream import Stream

#: A worker exits within this time after the end of its input.
CLOSING_S = 5
#: A stopping engine ends the containers first and itself up to this much later.
STOPPING_S = 2.0
#: Within this time an engine records that it paused a container.
PAUSE_RECORDED_S = 1.0
#: Docker records that the kernel killed a process when it hears of it, up to this much later.
KILL_RECORDED_S = 1.0
#: The engine's answer to a request that does not fit the container's state.
HTTP_CONFLICT = 409


class ContainerWorker:
    """One container of one cell."""

    #: Its first process only starts the worker, and waits.
    has_init = True
    others: int | None = None
    import_alone: bool | None = None

    def __init__(
        self,
        engine: Callable[[], Engine],
        image: str,
        command: Sequence[str],
        *,
        folder: Path,
        variables: Mapping[str, str],
        bounds: Bounds,
        log: Path,
        checkout: str,
    ) -> None:
        """Start ``command`` in a container of ``image``, in ``folder``; its standard error goes to ``log``.

        ``engine`` returns a connected engine. Raises Ended when the container cannot be started.
        """
        self.stage = "start"
        self.log = log
        self._image = image
        self._paused = self._gone = False
        self._process_id: int | None = None
        self._state: Mapping[str, Any] | None = None
        self._oom_kills = oom_kills()
        try:
            self._engine = engine()
        except NoEngine as error:
            raise Ended(FAILED, OUTSIDE, str(error)) from None
        self._api = self._engine.api
        self._container = ""
        try:
            self._container = create(
                self._engine, image, command, folder=folder, variables=variables, bounds=bounds, checkout=checkout
            )
            self._stream = Stream(attach(self._engine, self._container), log)
            self._lines = Lines(self.read)
            self._api.start(self._container)
        except ENGINE_ERRORS as error:
            self._remove()
            raise _refusal(error, image, bounds) from None

    @property
    def process_id(self) -> int | None:
        """The machine's number for the container's first process, which leads a session of its own."""
        if self._process_id is None and not self._gone:
            self._process_id = int((self._look() or {}).get("Pid") or 0) or None
        return self._process_id

    def send(self, **request: Any) -> None:
        self.write(encode(request))

    def write(self, data: bytes) -> None:
        """Write to the container's input."""
        self._stream.send(data)

    def read(self, left_s: float) -> bytes | None:
        """Wait up to ``left_s`` seconds for a piece of what its process says: None when none came, b"" at the end."""
        return self._stream.read(left_s)

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to a request. Raises Ended."""
        try:
            answer = receive(self, timeout_s)
        except Ended as ended:
            # To the worker, a child that the kernel killed looks like any other failure.
            if ended.status == FAILED and (self._lost_a_child() or self._may_have_lost_a_child()):
                raise Ended(OUT_OF_MEMORY, ended.stage, f"killed for lack of memory: {ended.reason}") from None
            raise
        if answer["event"] == "imported":
            answer["versions"] = {"image": self._image, **answer["versions"]}
        elif answer["event"] == "finished":
            self.close()
            if self._lost_a_child():
                raise Ended(OUT_OF_MEMORY, self.stage, "a child process was killed by the kernel for lack of memory")
        return answer

    def line(self, deadline: float) -> bytes | None:
        """Read one line; None at the deadline, empty at the end of the pipe."""
        return self._lines.next(deadline)

    def find_end(self) -> Ended:
        """Return the status, stage and reason of a container that exited."""
        self.close()
        found = exit_of(self._state, kernel_killed=oom_kills() > self._oom_kills, log_tail=tail(self.log))
        if found.status == FAILED and self._engine_stops():
            return Ended(FAILED, OUTSIDE, f"the container engine at {self._engine.address} stopped while the cell ran")
        return Ended(found.status, self.stage, found.reason)

    def pause(self) -> None:
        """Freeze every process in the container. Errors are ignored: the next ``receive`` reports a lost engine."""
        with contextlib.suppress(*ENGINE_ERRORS):
            self._api.pause(self._container)
            self._paused = True

    def resume(self) -> None:
        """Resume every process in the container.

        Docker may record a pause only after it has confirmed it, and refuses to resume a container until then.
        """
        deadline = time.monotonic() + PAUSE_RECORDED_S
        while self._paused:
            try:
                self._api.unpause(self._container)
                self._paused = False
            except docker.errors.APIError as error:
                if error.status_code != HTTP_CONFLICT or time.monotonic() > deadline:
                    return
                time.sleep(0.005)
            except ENGINE_ERRORS:
                return

    def end_input(self) -> None:
        """Close the input, at which the worker ends; ``close`` waits for that."""
        if not self._gone:
            self.resume()
            self._stream.end_input()

    def close(self) -> None:
        """Close the input, give the worker ``CLOSING_S`` to exit, and remove the container."""
        if self._gone:
            return
        self.end_input()
        if self._stream.drain(CLOSING_S):
            with contextlib.suppress(*ENGINE_ERRORS):
                self._api.wait(self._container, timeout=CLOSING_S)
        self._state = self._look_for_kill(self._oom_kills)
        self.kill()

    def kill(self) -> None:
        """Remove the container with all processes in it."""
        if self._gone:
            return
        self._gone = True
        self.resume()
        self._remove()
        self._stream.close()

    def _remove(self) -> None:
        if self._container:
            drop_container(self._engine, self._container)

    def _look(self) -> Mapping[str, Any] | None:
        """Return the container's state; None when the container or the engine is gone."""
        try:
            return dict(self._api.inspect_container(self._container)["State"])
        except ENGINE_ERRORS:
            return None

    def _look_for_kill(self, oom_kills_before: int) -> Mapping[str, Any] | None:
        """Return the container's state, once Docker has had the time to record a kill for lack of memory in it."""
        state = self._look()
        deadline = time.monotonic() + KILL_RECORDED_S
        while state is not None and not state.get("OOMKilled") and oom_kills() > oom_kills_before:
            if self._engine.product == "podman" or time.monotonic() > deadline:
                break
            time.sleep(0.02)
            state = self._look() or state
        return state

    def _engine_stops(self) -> bool:
        """Return whether the engine stopped, or stops within ``STOPPING_S``, and so ended the container."""
        if self._state is not None and int(self._state.get("ExitCode") or 0) not in STOPPED:
            return False
        deadline = time.monotonic() + STOPPING_S
        while time.monotonic() < deadline:
            if not is_reachable(self._engine):
                return True
            time.sleep(0.1)
        return False

    def _may_have_lost_a_child(self) -> bool:
        """Return whether the kernel killed any process while the cell ran; Podman does not report which."""
        return self._engine.product == "podman" and oom_kills() > self._oom_kills

    def lost_a_process(self, oom_kills_before: int) -> bool:
        """Return whether the kernel killed a process in the container since it had killed so many on the machine."""
        if oom_kills() <= oom_kills_before:
            return False
        return self._engine.product == "podman" or bool((self._look_for_kill(oom_kills_before) or {}).get("OOMKilled"))

    def _lost_a_child(self) -> bool:
        return self._state is not None and bool(self._state.get("OOMKilled"))


def _refusal(error: BaseException, image: str, bounds: Bounds) -> Ended:
    """Return the status and reason of a container that could not be started."""
    reason = reason_of(error)
    if isinstance(error, docker.errors.ImageNotFound):
        return Ended(FAILED, OUTSIDE, f"the image {image} does not exist; the next session builds it again")
    if not isinstance(error, docker.errors.APIError):
        return Ended(FAILED, OUTSIDE, f"the container engine stopped answering: {reason}")
    if bounds.gpu and any(words in reason for words in ("device driver", "nvidia", "CDI")):
        return Ended(
            UNSUPPORTED,
            "start",
            f"the engine cannot give containers a GPU ({reason}); install NVIDIA's container toolkit",
        )
    return Ended(FAILED, "start", f"the container does not start: {reason}")
