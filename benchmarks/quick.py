"""Measures the quick run of three environments, from nothing and again, and its time outside of the workers.

    nox -s benchmarks -- quick [--again-only]

"From nothing" removes the environments, compiled code and references of earlier runs; packages come from the
installer's cache where it has them. Targets: under 10 minutes, then under 5; less than 5 % of the measuring outside
of the workers; less than 300 MB for the host process.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
SESSIONS = ["bench-torch1", "bench-torch2", "bench-jax"]
LIMITS_S = {"from nothing": 600.0, "again": 300.0}
MOST_OUTSIDE_SHARE = 0.05
MOST_HOST_BYTES = 300e6


def run_once(name: str) -> tuple[list[str], bool]:
    """Run the main job; return its row and whether it met the targets."""
    start = time.monotonic()
    subprocess.run([sys.executable, str(ROOT / "noxfile.py"), "-s", *SESSIONS, "--", "--fresh"], cwd=ROOT, check=True)
    seconds = time.monotonic() - start
    run = json.loads((ROOT / "reports" / "default" / "run.json").read_text())
    elapsed, waited = run["seconds"]["elapsed"], run["seconds"]["waited_for_workers"]
    outside = 1 - waited / elapsed
    peak = run["host_peak_bytes"]
    met = seconds < LIMITS_S[name] and outside < MOST_OUTSIDE_SHARE and peak < MOST_HOST_BYTES
    row = [
        name,
        f"{seconds:.0f}",
        f"{LIMITS_S[name]:.0f}",
        f"{elapsed:.0f}",
        f"{100 * outside:.1f}",
        f"{peak / 1e6:.0f}",
    ]
    return row, met


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where a target is missed."""
    names = ["again"] if "--again-only" in arguments else list(LIMITS_S)
    if "from nothing" in names:
        for folder in ("environments", "compile-caches", "references"):
            shutil.rmtree(ROOT / ".nox" / folder, ignore_errors=True)
    rows, met = zip(*(run_once(name) for name in names), strict=True)
    headers = ["run", "total / s", "limit / s", "measuring / s", "outside workers / %", "host peak / MB"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
