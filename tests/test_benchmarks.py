"""Tests that the benchmarks of the harness can be started: a name that has gone from the host would else go unseen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: In a process of its own, which the modules of benchmarks leave with it.
PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module("benchmarks." + name)
    except ImportError as error:
        print(name, error)
"""


def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if not path.stem.startswith("_"))
    assert len(names) > 10
    said = subprocess.run([sys.executable, "-c", PROGRAM, *names], cwd=ROOT, check=True, capture_output=True, text=True)
    assert said.stdout == ""
