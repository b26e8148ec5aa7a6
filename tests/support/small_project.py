"""A project with one quick study over NumPy, and its command line, in this process and in one of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.host.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
STUDY = """
[study]
name = "small"
baseline = "here:eager"
default = ["here"]
profile = "brief"
seed = 1
threads = 1
[environments.here]
provider = "existing"
interpreter = "{python}"
framework = "numpy"
modes = ["eager"]
[workloads.gemm]
{more}
[profiles.brief]
peaks = false
rounds = {rounds}
samples = {samples}
sample_seconds = {sample_seconds}
sizes = ["check"]
timeout_s = 60
"""


def write(folder: Path, *, rounds: int = 1, samples: int = 2, sample_seconds: float = 0.001, more: str = "") -> Path:
    """Write the study file into ``folder``; ``more`` are further tables."""
    values = {"rounds": rounds, "samples": samples, "sample_seconds": sample_seconds, "more": more}
    (folder / "matrix.toml").write_text(STUDY.format(python=sys.executable, **values))
    return folder


def call(folder: Path, *arguments: str) -> int:
    """Call a command in this process; return its exit code."""
    command, *rest = arguments
    return main([command, "--matrix", str(folder / "matrix.toml"), *rest], root=folder)


def spawn(folder: Path, *arguments: str, errors: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """Call a command in a process of its own; ``errors`` is where its standard error goes."""
    program = (
        # Whoever starts the tests in the background of a shell has them ignore interrupts; nohup, the terminal's end.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL);"
        "import sys; from pathlib import Path; from bench.host.__main__ import main;"
        # See tests/conftest.py.
        "from bench.host.executors.placements import Placements; Placements.draw = lambda *_, **__: None;"
        "from bench.host.measuring import run_start; run_start.withheld_cells = lambda records: set();"
        f"sys.exit(main(sys.argv[1:], root=Path({str(folder)!r})))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, arguments[0], "--matrix", str(folder / "matrix.toml"), *arguments[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        start_new_session=True,
    )


def text_of(path: Path) -> str:
    """Read a file that a run may remove at any moment; empty where there is none."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
