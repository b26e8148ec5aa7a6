"""Finds the environments that were built, and runs programs in them as workers run, with this checkout at hand."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from bench.host import environments
from bench.host.environments import variables
from bench.record import OK
from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]


def interpreter_of(environment: str) -> tuple[str, ...]:
    """Return the command of an environment's interpreter; exit where it was not built."""
    return _prepared(environment).command


def own_variables_of(environment: str) -> dict[str, str]:
    """Return the variables that an environment brings, as those of ``preload``; exit where it was not built."""
    return dict(_prepared(environment).manifest.get("variables", {}))


def _prepared(environment: str) -> environments.Prepared:
    prepared = environments.load_outcome(environment, root=ROOT)
    if prepared is None or prepared.status != OK:
        raise SystemExit(f"environment {environment} is not prepared: nox -s bench-{environment} builds it")
    return prepared


def variables_of(
    command: Sequence[str], framework: str, threads: int = 1, own: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return the environment variables of a program; ``own`` are those of its environment, or further ones."""
    extra = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2", **own}
    return variables.of_worker(threads, BUILT_IN.facts(framework), own=extra, interpreter=command[0])


def answer(command: Sequence[str], made: Mapping[str, str], timeout_s: float) -> str:
    """Run a program with these environment variables and return the last line that it prints; exit where it fails."""
    done = subprocess.run(command, env=made, capture_output=True, text=True, timeout=timeout_s)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()[-1]
