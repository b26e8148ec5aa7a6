"""Measures the quick run of three environments, from nothing and again, and its time outside of the workers.

    nox -s benchmarks -- quick [--again-only]

"From nothing" removes the environments, and the compiled code and all else that runs keep; packages come from the
installer's cache where it has them. Targets: under 180 s, then under 90 s, at least a third of it timed samples; less
than 5 % of the measuring outside of the workers; less than 300 MB for the host process.
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
FOLDER = ROOT / "reports" / "default"
SESSIONS = ["bench-torch1", "bench-torch2", "bench-jax"]
LIMITS_S = {"from nothing": 180.0, "again": 90.0}
#: The share of the timed samples in the second run.
LEAST_TIMED_SHARE = 1 / 3
MOST_OUTSIDE_SHARE = 0.05
MOST_HOST_BYTES = 300e6


def timed_s() -> float:
    """Return the seconds of all samples of the run."""
    lines = (FOLDER / "records.jsonl").read_text().splitlines()
    return sum(sum(json.loads(line).get("sample_ns") or ()) for line in lines) / 1e9


def run_once(name: str) -> tuple[list[str], bool]:
    """Run the main job; return its row and whether it met the targets."""
    start = time.monotonic()
    subprocess.run([sys.executable, str(ROOT / "noxfile.py"), "-s", *SESSIONS, "--", "--fresh"], cwd=ROOT, check=True)
    seconds = time.monotonic() - start
    run = json.loads((FOLDER / "run.json").read_text())
    timed = timed_s() / seconds
    elapsed, waited = run["seconds"]["elapsed"], run["seconds"]["waited_for_workers"]
    outside = 1 - waited / elapsed
    peak = run["host_peak_bytes"]
    met = seconds < LIMITS_S[name] and outside < MOST_OUTSIDE_SHARE and peak < MOST_HOST_BYTES
    met = met and (name != "again" or timed >= LEAST_TIMED_SHARE)
    row = [
        name,
        f"{seconds:.0f}",
        f"{LIMITS_S[name]:.0f}",
        f"{elapsed:.0f}",
        f"{100 * timed:.0f}",
        f"{100 * outside:.1f}",
        f"{peak / 1e6:.0f}",
    ]
    return row, met


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where a target is missed."""
    names = ["again"] if "--again-only" in arguments else list(LIMITS_S)
    if "from nothing" in names:
        for folder in ("environments", "compile-caches", "references", "peaks", "growth"):
            shutil.rmtree(ROOT / ".nox" / folder, ignore_errors=True)
    rows, met = zip(*(run_once(name) for name in names), strict=True)
    headers = ["run", "total / s", "limit / s", "measuring / s", "timed / %", "outside workers / %", "host peak / MB"]
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
