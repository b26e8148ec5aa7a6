"""Runs a program of a test inside an environment of the default study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from bench.host import environments
from bench.host.environments import variables
from bench.host.study import study_file
from bench.record import OK
from bench.registry import BUILT_IN

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
THREADS = min(2, len(os.sched_getaffinity(0)))
TIMEOUT_S = 600


@cache
def run(environment: str, program: str, *arguments: str) -> Any:
    """Run ``program`` with the environment's interpreter; return what its last line of JSON says."""
    extra = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"}
    done = subprocess.run(
        [*interpreter(environment), str(HERE / program), *arguments],
        cwd=HERE,
        env=variables.of_worker(THREADS, BUILT_IN.facts(framework(environment)), own=extra),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def framework(environment: str) -> str:
    if environment == "numpy":
        return "numpy"
    return study_file.load(ROOT / "matrix.toml").environments[environment].framework


def interpreter(environment: str) -> tuple[str, ...]:
    """Return the command of an environment's interpreter; that of the tests themselves stands for NumPy's."""
    if environment == "numpy":
        return (sys.executable,)
    prepared = environments.load_outcome(environment, root=ROOT)
    assert prepared is not None, f"environment {environment} is not prepared: run this through nox -s tests"
    assert prepared.status == OK, f"environment {environment}: {prepared.reason}"
    return prepared.command
