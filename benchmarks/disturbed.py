"""Runs a small study beside programs that use every processor, and compares what its report shows with a quiet run.

    nox -s benchmarks -- disturbed [--runs 20] [--environment jax]

The same cells are first measured without these programs, three times; then ``--runs`` times beside one that spins on
each processor, at the same priority. Every number that a summary, a ranking or a macro of such a run shows must be
within ``MARGIN`` of the quiet value, or its interval must hold that value: a number that is neither is unusable, and
the run fails. So does a run that withholds numbers without saying so in its first table. The quiet value is the median
of the quiet runs, so the machine has to be quiet for them. Results go to ``reports/disturbed/``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from tabulate import tabulate

from bench.host.reporting import report
from bench.host.reporting.report import Report
from bench.host.statistics.bootstrap import Estimate
from bench.host.storage import journal, manifest

ROOT = Path(__file__).resolve().parents[1]
STUDY = "disturbed"
WORKLOADS = ("gemm", "layernorm-softmax", "mlp-train")
#: How far a number may be from its quiet value.
MARGIN = 0.10
QUIET_RUNS = 3
BANNER = "The machine was busy"

#: What a number is of: "speed-up, mlp-train, jax:jit".
Shown = dict[str, Estimate]


def write_study(environment: str) -> Path:
    """Write the default study under another name, so that no results of its own are replaced."""
    path = ROOT / ".nox" / f"{STUDY}.toml"
    text = (ROOT / "matrix.toml").read_text()
    changes = {
        'name = "default"': f'name = "{STUDY}"',
        'baseline = "torch1:eager"': f'baseline = "{environment}:eager"',
        'modes = ["jit"]': 'modes = ["jit", "eager"]',
    }
    for old, new in changes.items():
        if old not in text:
            raise SystemExit(f"matrix.toml has no {old!r} any more: bring benchmarks/disturbed.py up to date")
        # The first table with it is the environment's; others may read alike.
        text = text.replace(old, new, 1)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def measure(study: Path, environment: str) -> Report:
    """Measure the cells once, and return the report."""
    workloads = [part for name in WORKLOADS for part in ("--workload", name)]
    options = ["--environment", environment, *workloads, "--size", "tiny", "--profile", "quick", "--fresh"]
    command = [sys.executable, "-m", "bench.host", "run", "--matrix", str(study), *options, "--allow-failures"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    folder = ROOT / "reports" / STUDY
    described = manifest.read(folder)
    assert described is not None
    return report.make(journal.read(folder), described)


def shown_numbers(made: Report) -> Shown:
    """Return every number that the summary and the macros show, and the ratios of the ranking."""
    found: Shown = {}
    compared = made.speed_ups
    if compared is not None:
        for row in compared.rows:
            for column, cell in row.cells.items():
                if cell.time is not None:
                    found[f"time, {row.name}, {column}"] = cell.time
                if cell.speed_up is not None and not cell.is_base:
                    found[f"speed-up, {row.name}, {column}"] = cell.speed_up
        for track in compared.tracks:
            for column, mean in track.means.items():
                found[f"mean over {track.rows} rows, {column}"] = Estimate(mean, None, None, track.rows)
    for place in made.rankings:
        if place.standing is not None:
            found[f"ranking, {place.column}"] = place.standing.ratio
    return found


def quiet_values(runs: list[Shown]) -> dict[str, float]:
    """Return the median of every number that all quiet runs show."""
    names = set.intersection(*map(set, runs))
    return {name: statistics.median(run[name].value for run in runs) for name in names}


def unusable(shown: Shown, quiet: dict[str, float]) -> list[str]:
    """List the numbers that are far from their quiet value, which their interval does not hold, either."""
    found = []
    for name, estimate in shown.items():
        # A mean over other rows than the quiet one is another quantity.
        if name not in quiet or abs(math.log(estimate.value / quiet[name])) <= math.log1p(MARGIN):
            continue
        if estimate.low is None or estimate.high is None or not estimate.low <= quiet[name] <= estimate.high:
            found.append(f"{name}: {estimate.value:.3g} instead of {quiet[name]:.3g}")
    return found


def says_busy(made: Report) -> bool:
    text = io.StringIO()
    made.print(Console(file=text, width=80))
    return BANNER in " ".join(text.getvalue().split())


def spin() -> None:
    while True:
        pass


@contextlib.contextmanager
def competitors() -> Iterator[None]:
    """Spin on every processor that this process may use."""
    spinning = [multiprocessing.Process(target=spin, daemon=True) for _ in os.sched_getaffinity(0)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.join()


def main(arguments: list[str]) -> int:
    """Print a line per run; exit 1 where one shows a number that is unusable, or withholds some without a banner."""
    parser = argparse.ArgumentParser(prog=STUDY, description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--environment", default="jax")
    options = parser.parse_args(arguments)
    study = write_study(options.environment)
    runs = [shown_numbers(measure(study, options.environment)) for _ in range(QUIET_RUNS)]
    quiet = quiet_values(runs)
    print(f"{len(quiet)} numbers of {QUIET_RUNS} quiet runs", flush=True)
    if len(quiet) < len(WORKLOADS):
        parser.error("other programs compute: the runs without our own withhold nearly everything; repeat it later")
    rows, failed = [], 0
    for number in range(options.runs):
        with competitors():
            made = measure(study, options.environment)
        shown = shown_numbers(made)
        wrong, missing = unusable(shown, quiet), len(set(quiet) - set(shown))
        banner = says_busy(made)
        failed += bool(wrong) or (bool(missing) and not banner)
        rows.append([number + 1, len(shown), missing, "yes" if banner else "no", "; ".join(wrong) or "none"])
        print(f"run {number + 1}: {rows[-1][1:]}", flush=True)
    print(tabulate(rows, ["run", "shown", "withheld", "banner", "unusable"], "github", disable_numparse=True))
    print(f"\n{options.runs - failed} of {options.runs} runs show no unusable number and say what they withhold.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
