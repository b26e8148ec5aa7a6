"""Runs programs of the tests inside an environment of the default study, which imports its framework once."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.host import environments
from bench.host.environments import variables
from bench.host.executors.job import InstalledEnvironment, describe_each
from bench.host.project import STATE
from bench.host.storage.compile_caches import CompileCaches
from bench.host.storage.references import References
from bench.host.study import study_file
from bench.host.study.schema import Study
from bench.record import OK
from bench.registry import BUILT_IN

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Where compiled code stays from one invocation to the next. Trials use it, too: headers, and kernels that several
#: modes share, are compiled once.
CACHES = ROOT / STATE / "compile-caches"
THREADS = min(2, len(os.sched_getaffinity(0)))
#: torch.compile takes ten minutes for the longest program where other programs need the processors, too.
TIMEOUT_S = 1800
#: Threads that wait busily for others of their program take the processors from them, where other tests run beside.
PATIENT = {"OMP_WAIT_POLICY": "passive"}
#: Float64 references, which take long at some sizes, are computed once for all environments, as in a run.
REFERENCES = References(ROOT, ROOT / STATE / "references", seed=1, threads=1)


@cache
def run(environment: str, program: str, *arguments: str, threads: int = THREADS) -> Any:
    """Run ``program`` in a process forked from the environment's; return what its ``main`` returned.

    ``server.py`` describes both. PyTorch can have fewer threads than the other programs.
    """
    given = {} if threads == THREADS else fewer(environment, threads)
    return server(environment).request(program, given, *arguments)


def agreement(environment: str, mode: str, *workloads: str, threads: int = THREADS) -> dict[str, Any]:
    """Return what ``agreement.py`` finds in workloads, each ``workload``, ``workload/size`` or with a precision, too.

    Without any, these are all that the framework has.
    """
    name = framework(environment)
    every = (each for each in BUILT_IN.workloads if BUILT_IN.has_implementation(each, name))
    asked = {}
    for each in workloads or every:
        workload, size, precision, *_ = f"{each}/check/float32".split("/") if each.count("/") < 2 else each.split("/")
        asked[each] = reference(workload, size, precision)
    found: dict[str, Any] = run(environment, "agreement", mode, json.dumps(asked), threads=threads)
    return found


def fewer(environment: str, threads: int) -> dict[str, str]:
    """Return the variables by which a forked process has other threads than the one that it is forked from."""
    facts = BUILT_IN.facts(framework(environment))
    assert facts.sets_threads
    return {**variables.of_threads(threads, facts), **compile_caches(environment, threads)}


@cache
def reference(workload: str, size: str, precision: str = "float32") -> str:
    """Return the path of a workload's reference at a size; that of mixed precision is another one."""
    cell = Cell("any", "numpy", "any", workload, size, precision, "cpu", THREADS)
    return str(REFERENCES.ensure(cell, None))


@cache
def server(environment: str) -> Server:
    return Server(environment)


class Server:
    """A process that has imported the framework of an environment and runs programs; it ends with the tests."""

    def __init__(self, environment: str) -> None:
        name = framework(environment)
        facts = BUILT_IN.facts(name)
        caches = compile_caches(environment)
        for folder in caches.values():
            Path(folder).mkdir(parents=True, exist_ok=True)
        extra = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2", **PATIENT, **facts.trial_variables}
        extra.update(own_variables(environment))
        # Forked processes end without the clean-up that libraries register for the end. Workers have a folder, too.
        self._scratch = tempfile.TemporaryDirectory()
        if not facts.caches_temporary_files:
            extra["TMPDIR"] = self._scratch.name
        self._command = (*interpreter(environment), str(HERE / "server.py"), name)
        interpreter_path = self._command[0]
        self._variables = variables.of_worker(THREADS, facts, caches=caches, own=extra, interpreter=interpreter_path)
        self._process = self._start()
        atexit.register(self.close)

    def _start(self) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        # What it forks ends with it.
        return subprocess.Popen(
            self._command, cwd=HERE, env=self._variables, text=True, start_new_session=True, **pipes
        )

    def request(self, program: str, given: dict[str, str], *arguments: str) -> Any:
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None
        assert replies is not None
        print(json.dumps([program, given, *arguments]), file=requests, flush=True)
        ready, _, _ = select.select([replies], [], [], TIMEOUT_S)
        line = replies.readline() if ready else ""
        if not line:
            # A late reply would be taken for that of the next request.
            self._end()
            self._process = self._start()
        assert line, f"no reply from {program} within {TIMEOUT_S} s; its framework's words are in the captured output"
        succeeded, answer = json.loads(line)
        assert succeeded, answer
        return answer

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def close(self) -> None:
        self._end()
        self._scratch.cleanup()


@cache
def default_study() -> Study:
    return study_file.load(ROOT / "matrix.toml")


def framework(environment: str) -> str:
    return "numpy" if environment == "numpy" else default_study().environments[environment].framework


def own_variables(environment: str) -> dict[str, str]:
    """Return the variables that the study sets for an environment's workers."""
    if environment == "numpy":
        return {}
    return dict(default_study().environments[environment].variables)


def compile_caches(environment: str, threads: int = THREADS) -> dict[str, str]:
    """Return the variables that lead its compilers to the folders that the cells of a study have, too."""
    name = framework(environment)
    prepared = environments.load_outcome(environment, root=ROOT)
    known = default_study().environments.get(environment)
    manifests = {}
    if prepared is not None and known is not None:
        manifests = describe_each({environment: InstalledEnvironment.of(prepared, known)})
    cell = Cell(environment, name, "any", "any", "check", "float32", "cpu", threads)
    return CompileCaches(CACHES, "tests", kept=True, manifests=manifests, trial=True).variables(cell)


def interpreter(environment: str) -> tuple[str, ...]:
    """Return the command of an environment's interpreter; that of the tests themselves stands for NumPy's."""
    if environment == "numpy":
        return (sys.executable,)
    prepared = environments.load_outcome(environment, root=ROOT)
    assert prepared is not None, f"environment {environment} is not prepared: run this through nox -s tests"
    assert prepared.status == OK, f"environment {environment}: {prepared.reason}"
    return prepared.command
