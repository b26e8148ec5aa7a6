"""Compares the profile ``standard`` with what it was when every cell had processes of its own.

    nox -s benchmarks -- standard [--workload NAMES] [--environments NAMES] [--threads N]

Both measure the same cells, one after the other, with compiled code from nothing. The first table has the seconds of
both runs, and how wide the intervals of their ratios to the baseline are. The second has the ratios whose verdicts
differ. The goal is a third of the time, intervals at most a tenth wider, and no verdict that contradicts another one:
*different* beside *equivalent*, or *different* in two directions.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
#: The profile until 2026-11-24, except for the sizes, which are those of today in both.
BEFORE = """
[profiles.before]
note = "what standard was"
rounds = 10
most_rounds = 20
twin = true
samples = 20
sample_seconds = 0.05
workers = "own"
sizes = ["small"]

[profiles.before.sizes_of]
dispatch = ["tiny"]
catdog-cnn-train = ["tiny"]
transformer-encoder = ["mini"]
transformer-train = ["mini"]
"""
VERDICTS = ("different", "equivalent", "inconclusive")
TIME_GOAL, WIDTH_GOAL = 1 / 3, 1.1


class Compared(NamedTuple):
    """A ratio to the baseline: its interval and its verdict."""

    low: float
    high: float
    verdict: str

    @property
    def width(self) -> float:
        return math.log(self.high / self.low)


def measure(profile: str, options: argparse.Namespace) -> tuple[float, dict[str, Compared]]:
    """Run the study; return its seconds and {cell: ratio}."""
    study = f"standard-{profile}"
    file = ROOT / ".nox" / f"{study}.toml"
    text = f'[study]\nextends = "../matrix.toml"\nname = "{study}"\ntitle = "Profile {profile}"\n'
    file.write_text(text + (BEFORE if profile == "before" else ""))
    command = [sys.executable, "-m", "bench.host", "run", "--matrix", str(file), "--profile", profile, "--fresh"]
    for environment in options.environments.split(","):
        command += ["--environment", environment]
    command += ["--workload", options.workload, "--threads", options.threads]
    subprocess.run(command, cwd=ROOT, check=True)
    folder = ROOT / "reports" / study
    seconds = json.loads((folder / "run.json").read_text())["seconds"]["elapsed"]
    with (folder / "results.csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["verdict"] and row["speed_up_low"]]
    return seconds, {
        f"{row['workload']} {row['environment']}:{row['mode']}": Compared(
            float(row["speed_up_low"]), float(row["speed_up_high"]), row["verdict"]
        )
        for row in rows
    }


def contradict(one: Compared, other: Compared) -> bool:
    """Tell whether two verdicts cannot both be right."""
    verdicts = {one.verdict, other.verdict}
    if verdicts == {"different"}:
        return (one.low > 1) != (other.low > 1)
    return verdicts == {"different", "equivalent"}


def main(arguments: list[str]) -> int:
    """Print the tables; exit 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="gemm,elementwise-chain,mlp-train,transformer-encoder")
    parser.add_argument("--environments", default="torch1,torch2,jax")
    parser.add_argument("--threads", default="1")
    options = parser.parse_args(arguments)
    before_s, before = measure("before", options)
    now_s, now = measure("standard", options)
    both = [name for name in before if name in now]
    if not both:
        raise SystemExit("no ratio has a verdict in both runs")
    rows = []
    for name, seconds, found in (("before", before_s, before), ("standard", now_s, now)):
        counts = [sum(one.verdict == verdict for one in found.values()) for verdict in VERDICTS]
        width = statistics.median(found[one].width for one in both)
        rows.append([name, f"{seconds:.0f}", *counts, f"{100 * width:.2f}"])
    print(tabulate(rows, ["profile", "seconds", *VERDICTS, "median width / %"], "github", disable_numparse=True))
    differing = [
        [name, *before[name][:3], *now[name][:3]] for name in both if before[name].verdict != now[name].verdict
    ]
    print(tabulate(differing, ["other verdicts", *("low", "high", "before"), *("low", "high", "standard")], "github"))
    time_ratio = now_s / before_s
    width_ratio = statistics.median(now[name].width / before[name].width for name in both)
    contradictions = sum(contradict(before[name], now[name]) for name in both)
    print(f"Time: {time_ratio:.2f} (goal {TIME_GOAL:.2f}). Interval widths: {width_ratio:.2f} (goal {WIDTH_GOAL}).")
    print(f"Contradictions: {contradictions} of {len(both)} (goal 0).")
    return int(time_ratio > TIME_GOAL or width_ratio > WIDTH_GOAL or contradictions > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
