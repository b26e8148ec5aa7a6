"""Counts the processor time of what protects a run, part by part, and switches parts off.

Functions are replaced in this process for the host, and in a copy of the package for workers. No option of a user does
it. What runs once in a host's life is counted in processes of its own, see ``start_s``.
"""

from __future__ import annotations

import compileall
import contextlib
import functools
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from bench.host import project
from bench.host.executors import child_processes, host_clock
from bench.host.measuring import study_run
from bench.host.storage import lines, record_schema
from bench.host.workers import guard, log_limit, messages, requests
from bench.worker import family, scratch

#: {part: {module of the worker ring: {what the part consists of there: what takes its place}}}
WORKER = {
    "late": {"checking/late.py": {"LateCheck.verify": "lambda *_: 0"}},
    "processes": {
        "family.py": {
            "stop": "lambda process: send_group(process, signal.SIGSTOP) or []",
            "end": "lambda process: send_group(process, signal.SIGKILL)",
            "adopt_orphans": "lambda: None",
        },
        "parent.py": {"Parent._end_orphans": "lambda _: None"},
        "scratch.py": {"remove_of": "lambda *_: None"},
    },
}
#: A module of the copied package. A call adds the processor time that it took to a file, those within it included.
COUNTING = """
import os
import time

within = []

def counted(function, part):
    counts = os.open({folder!r} + part, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def call(*given, **named):
        if within:
            return function(*given, **named)
        within.append(part)
        began = time.process_time_ns()
        try:
            return function(*given, **named)
        finally:
            os.write(counts, b"%d\\n" % (time.process_time_ns() - began))
            within.clear()
    return call
"""
#: {part: {what it consists of on the host: what takes its place}}
HOST: Mapping[str, Sequence[tuple[object, str, object]]] = {
    "late": (),
    "clock": [(host_clock.HostClock, "verify", lambda *_: None)],
    "processes": [
        (child_processes.ChildProcesses, "begin", lambda *_: None),
        (child_processes.ChildProcesses, "add", lambda *_: None),
        (family, "stop", lambda process: family.send_group(process, signal.SIGSTOP) or []),
        (family, "end", lambda process: family.send_group(process, signal.SIGKILL)),
        (scratch, "remove_of", lambda *_: None),
        (guard.Guard, "new_worker", lambda _: guard.GuardedWorker("")),
        (guard.GuardedWorker, "enclose", lambda worker, _: worker),
        (guard.GuardedWorker, "end", lambda _: None),
    ],
    "messages": [(messages, "check", lambda *_: None), (requests, "check", lambda *_: None)],
    "logs": [(log_limit, "limit", lambda _: None)],
    "journal": [
        (lines, "with_checksum", lambda text: f"{text}\n"),
        (lines, "_verify_plain", lambda *_: None),
        (record_schema, "verify", lambda *_: None),
    ],
    "environments": [(study_run, "altered", lambda *_: {})],
}
#: What a host does once for its protection: it defines the messages and files, and starts the guard.
START = """
import importlib, os, resource, sys, time
import bench.host.study.schema
began = time.process_time()
for name in ("workers.messages", "workers.requests", "storage.record_schema", "storage.manifest"):
    importlib.import_module("bench.host." + name)
from bench.host.storage import manifest, record_schema
from bench.host.workers import messages, requests
for message in ("started", "stage", "imported", "prepared", "calibrated", "moved", "turn", "finished"):
    messages.MESSAGES[message].model_rebuild()
for request in ("reference", "import", "prepare", "calibrate", "move", "turn", "finish"):
    requests.REQUESTS[request].model_rebuild()
record_schema.RecordSchema.model_rebuild()
manifest.Manifest.from_json({})
from bench.host.workers.guard import Guard
guard = Guard()
guard.dismiss()
os.close(guard._kept)
os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.process_time() - began + used.ru_utime + used.ru_stime)
"""
STARTS = 5


def start_s() -> float:
    """Return the processor time of what a host does once for its protection, the median of some hosts."""
    command = [sys.executable, "-c", START]
    found = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(STARTS)]
    return statistics.median(map(float, found))


def copy_code(folder: Path, without: Sequence[str], counts: Path | None) -> Path:
    """Copy the package to ``folder`` and compile it; return the folder.

    Parts of the worker ring are switched off, or write to ``counts`` what each call takes.
    """
    kept = shutil.ignore_patterns("__pycache__", "data")
    package = Path(shutil.copytree(project.PACKAGE, folder / project.PACKAGE.name, ignore=kept))
    if counts is not None:
        (package / "counting.py").write_text(COUNTING.format(folder=f"{counts}/"))
    for part, modules in WORKER.items():
        for module, names in modules.items():
            with (package / "worker" / module).open("a") as file:
                if counts is not None:
                    file.write("\nfrom bench.counting import counted as _counted\n")
                    file.write("".join(f"{name} = _counted({name}, {part!r})\n" for name in names))
                elif part in without:
                    file.write("".join(f"{name} = {other}\n" for name, other in names.items()))
    # Workers write no bytecode.
    compileall.compile_dir(package, quiet=1)
    return folder


class Counter:
    """The processor time of the parts of the host."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(HOST, 0.0)
        self._within = False

    def of(self, part: str, function: Any) -> Any:
        """Return the function with its processor time counted."""

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            if self._within:
                return function(*given, **named)
            self._within = True
            began = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.seconds[part] += time.process_time() - began
                self._within = False

        return call


@contextlib.contextmanager
def patched(code: Path, other: Callable[[str, object, str, object], object]) -> Iterator[None]:
    """Let workers start from the copy at ``code``, and replace the parts of the host by what ``other`` returns."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(project, "code_folder", return_value=code))
        for part, pieces in HOST.items():
            for owner, name, nothing in pieces:
                stack.enter_context(mock.patch.object(owner, name, other(part, owner, name, nothing)))
        yield
