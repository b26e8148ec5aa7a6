"""Imports a framework, computes nothing, and forks a worker for every cell.

The host has one pipe to this process, and this process one to each of its workers, and one for the worker's log. What
goes through the host's pipe names the worker, by a number that the host chose; 0 is this process itself:

  from the host   lines, ``<number> <request as JSON>``
  to the host     ``<number> <kind> <length>``, a line, then as many bytes: a piece of the messages (kind m) or of the
                  log (l); or the worker's end (x), whose bytes are its exit code, negative for a signal

Requests to 0: ``import``, ``preload``, ``fork``, and for one worker ``pause``, ``resume``,
``end`` (close its input) and ``kill``. While a worker measures, this process sleeps and needs no processor.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..registry import Registry
from . import family, forked, scratch
from .exit_status import reason_of, status_of
from .imported import Imported, spare
from .limits import mapped
from .timing.layout import settle_allocator

PIECE_BYTES = 1 << 16


class Child(NamedTuple):
    """A forked worker: its process, and this process's ends of its pipes."""

    process: int
    requests: int
    messages: int
    log: int


class Parent:
    """This process, which forks."""

    def __init__(self, requests: int, messages: int, scratch: scratch.Scratch, registry: Registry) -> None:
        self._requests, self._messages = requests, messages
        self._scratch = scratch
        self._registry = registry
        self._pending = b""
        self._imported = Imported()
        self._pages: List[Tuple[int, Any]] = []
        self._children: Dict[int, Child] = {}
        #: Processes that the framework started in its import.
        self._helpers: List[int] = []
        #: {worker: the processes that were stopped with it}
        self._stopped: Dict[int, List[int]] = {}
        #: {descriptor: the worker and the kind of what comes from it}
        self._sources: Dict[int, Tuple[int, bytes]] = {}
        self._poll = select.poll()

    def serve(self) -> int:
        """Do what the host requests until it closes the pipe; return the exit code."""
        wake, woken = os.pipe()
        for end in (wake, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._own = [wake, woken, self._requests, self._messages]
        for descriptor in (self._requests, wake):
            self._poll.register(descriptor, select.POLLIN)
        self._tell(event="started", python=sys.version.split()[0])
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._requests:
                    if not self._read_requests():
                        self._kill_all()
                        return 0
                elif descriptor == wake:
                    os.read(wake, PIECE_BYTES)
                else:
                    self._relay(descriptor)
            self._reap()

    def _read_requests(self) -> bool:
        """Do the requests that have arrived whole; return False at the end of the pipe."""
        piece = os.read(self._requests, PIECE_BYTES)
        *lines, self._pending = (self._pending + piece).split(b"\n")
        for line in lines:
            number, _, request = line.partition(b" ")
            if int(number):
                self._forward(int(number), request + b"\n")
            else:
                arguments = json.loads(request.decode())
                getattr(self, "_do_" + arguments.pop("do"))(**arguments)
        return bool(piece)

    def _forward(self, number: int, line: bytes) -> None:
        """Pass a request on; one to a worker that has ended is dropped, since the host gets to know of the end."""
        child = self._children.get(number)
        try:
            while child is not None and line:
                line = line[os.write(child.requests, line) :]
        except OSError:
            pass

    def _do_import(self, framework: str) -> None:
        self._tell(event="stage", stage="import")
        # What a framework caches in the host's temporary folder must stay there.
        if not self._registry.facts(framework).caches_temporary_files:
            self._scratch.take()
        settle_allocator()
        try:
            self._imported.adapter(self._registry, framework)
        except Exception:
            # Every worker reports it; the log gets the traceback once.
            import traceback

            traceback.print_exc()
        spare()
        self._tell(event="imported")

    def _do_preload(self, modules: List[str]) -> None:
        self._pages = []
        gc.enable()
        self._imported.preload(modules)
        spare()
        self._tell(event="preloaded", asked=modules)

    def _do_fork(self, worker: int, processors: List[int], layout: Optional[int], variables: Dict[str, str]) -> None:
        """Fork a worker, bound to ``processors``, with a memory layout and environment variables of its own."""
        if not self._pages:
            self._pages = mapped.pages()
        if not self._children:
            self._helpers = family.children(os.getpid())
        (requests, to_child), (messages, from_child), (log, into_log) = [os.pipe() for _ in range(3)]
        here = [*self._own, to_child, messages, log, *(end for each in self._children.values() for end in each[1:])]
        start = forked.Start(requests, from_child, into_log, here, processors, layout, variables)
        made = self._fork(worker, start)
        for end in (requests, from_child, into_log):
            os.close(end)
        if made is None:
            for end in (to_child, messages, log):
                os.close(end)
            return
        child = self._children[worker] = Child(made, to_child, messages, log)
        for descriptor, kind in ((child.messages, b"m"), (child.log, b"l")):
            os.set_blocking(descriptor, False)
            self._sources[descriptor] = (worker, kind)
            self._poll.register(descriptor, select.POLLIN)
        self._tell(event="forked", worker=worker, process=made)

    def _fork(self, worker: int, start: forked.Start) -> Optional[int]:
        """Return the process of the new worker; None, and tell the host, where the system refuses."""
        sys.stdout.flush()
        sys.stderr.flush()
        me = os.getpid()
        try:
            made = os.fork()
        except OSError as error:
            ended = {"event": "ended", "status": status_of(error), "stage": "start", "reason": reason_of(error)}
            self._send(worker, b"m", json.dumps(ended).encode() + b"\n")
            self._send(worker, b"x", b"1")
            return None
        if not made:
            forked.run(me, start, self._registry, self._imported, self._pages)
        return made

    def _do_pause(self, worker: int) -> None:
        child = self._children.get(worker)
        below = []  # type: List[int]
        if child is not None:
            below = self._stopped[worker] = family.stop(child.process)
            # All its threads have stopped when this returns, or it has ended.
            os.waitid(os.P_PID, child.process, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self._tell(event="paused", worker=worker, others=len(below))

    def _do_resume(self, worker: int) -> None:
        if worker in self._children:
            family.resume(self._children[worker].process, self._stopped.pop(worker, []))

    def _do_kill(self, worker: int) -> None:
        # It is a child that was not waited for, so its id holds.
        if worker in self._children:
            family.end(self._children[worker].process)

    def _do_end(self, worker: int) -> None:
        child = self._children.get(worker)
        if child is not None and child.requests >= 0:
            os.close(child.requests)
            self._children[worker] = child._replace(requests=-1)

    def _kill_all(self) -> None:
        for child in self._children.values():
            family.end(child.process)

    def _end_orphans(self) -> None:
        """Kill what a worker that has ended had started: it is a child of this process by now."""
        known = self._helpers + [child.process for child in self._children.values()]
        for orphan in family.children(os.getpid()):
            if orphan not in known:
                # Nobody waits for it: a process that hangs in a driver does not end.
                family.end(orphan)

    def _relay(self, descriptor: int) -> bool:
        """Pass a piece on to the host; return whether there was one."""
        if descriptor not in self._sources:
            return False
        worker, kind = self._sources[descriptor]
        try:
            piece = os.read(descriptor, PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self._poll.unregister(descriptor)
            del self._sources[descriptor]
            return False
        self._send(worker, kind, piece)
        return True

    def _reap(self) -> None:
        """Report the workers that have ended, after everything that they said."""
        for worker, child in list(self._children.items()):
            if os.waitid(os.P_PID, child.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            # What it started ends with it. As long as nobody has waited for it, no other process has its id.
            family.send_group(child.process, signal.SIGKILL)
            _, status = os.waitpid(child.process, 0)
            self._end_orphans()
            scratch.remove_of(child.process)
            for descriptor in (child.messages, child.log):
                while self._relay(descriptor):
                    pass
                if self._sources.pop(descriptor, None) is not None:
                    self._poll.unregister(descriptor)
            for end in child[1:]:
                if end >= 0:
                    os.close(end)
            del self._children[worker]
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            self._send(worker, b"x", b"%d" % code)

    def _tell(self, **message: Any) -> None:
        self._send(0, b"m", json.dumps(message).encode() + b"\n")

    def _send(self, number: int, kind: bytes, piece: bytes) -> None:
        data = b"%d %s %d\n%s" % (number, kind, len(piece), piece)
        while data:
            data = data[os.write(self._messages, data) :]
