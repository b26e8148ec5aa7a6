"""Bisects releases of a tiny framework with a slowdown planted in one of them, and counts where it is found.

    nox -s benchmarks -- bisections [--slowdowns 5,2,0] [--bisections 20] [--minutes 40] [--folder FOLDER]

The framework has twelve releases, each a wheel that an index on this machine serves; from release k on, a step computes
that many percent more. Each bisection has a k of its own and runs the command's code: locks, environments with NumPy,
worker processes, pairs that take turns. Environments are kept between bisections, pairs are not; counted are the
environments that a bisection used. Kinds of bisections take turns, so that an interrupted benchmark has some of each.
The figures to reach: found at k in 20 of 20 at 5 %, in 19 of 20 at 2 %, 0 of 20 found without a slowdown, and at most
2 log2(12) + 1 environments in the median.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate

from bench.host.__main__ import parser
from bench.host.commands import bisect, study_options
from bench.host.measuring.bisection_run import Bisected
from bench.host.statistics.bisection import Change, NoChange

from . import _releases
from ._releases import RELEASES, STUDY, version


@dataclass(frozen=True)
class Trial:
    """One bisection: what was planted, and what was found."""

    percent: int
    #: The first slow release; None without a slowdown.
    planted: int | None
    #: ``at k``, ``elsewhere``, ``left open`` or ``none``.
    outcome: str
    environments: int
    pairs: int
    seconds: float


def trial(project: Path, number: int, percent: int, planted: int | None) -> Trial:
    """Bisect once, as ``nox -s bisect`` does, in a study of its own, so that no pair is used twice."""
    versions = [version(n, 0 if planted is None or n < planted else percent) for n in range(RELEASES)]
    study = STUDY.format(name=f"trial-{number}", first=versions[0], seed=number + 1, versions=versions)
    (project / "matrix.toml").write_text(study)
    given = ["bisect", "tiny", "--no-attribution", "--matrix", str(project / "matrix.toml")]
    options = parser(given).parse_args(given, argparse.Namespace(root=project))
    start = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()):
        read = study_options.read_study(options)
        plan, cells = bisect.releases(read, options)
        found = bisect.measure(read, plan, cells, options)
    used = {name for key in found.pairs for name in key}
    pairs = sum(map(len, found.pairs.values()))
    return Trial(percent, planted, outcome(found, versions, planted), len(used), pairs, time.monotonic() - start)


def outcome(found: Bisected, versions: Sequence[str], planted: int | None) -> str:
    if found.unavailable:
        raise SystemExit(f"not measured: {dict(found.unavailable)}")
    if isinstance(found.end, NoChange):
        return "none" if found.end.settled else "left open"
    if not isinstance(found.end, Change):
        return "left open"
    at = planted is not None and found.releases[found.end.release] == f"tiny-{versions[planted]}"
    return "at k" if at else "elsewhere"


def summary(trials: Sequence[Trial]) -> str:
    """Make the table: a row per slowdown."""
    rows = []
    for percent in dict.fromkeys(one.percent for one in trials):
        own = [one for one in trials if one.percent == percent]
        counts = [sum(one.outcome == kind for one in own) for kind in ("at k", "elsewhere", "left open", "none")]
        most = max(one.environments for one in own)
        medians = [
            statistics.median(getattr(one, name) for one in own) for name in ("environments", "pairs", "seconds")
        ]
        rows.append((f"{percent} %", len(own), *counts, medians[0], most, medians[1], f"{medians[2]:.0f}"))
    titles = ("slowdown", "bisections", "at k", "elsewhere", "left open", "none", "environments", "most", "pairs", "s")
    limit = 2.0 * math.log2(RELEASES) + 1.0
    return f"{tabulate(rows, titles)}\n\nenvironments, pairs, s: medians; at most {limit:.1f} environments are the goal"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--slowdowns", default="5,2,0", help="percent, separated by commas; 0 plants none")
    given.add_argument("--bisections", type=int, default=20, help="of each slowdown")
    given.add_argument("--minutes", type=float, default=math.inf, help="no bisection begins after so many")
    given.add_argument("--folder", type=Path, help="keep the project there; a temporary folder by default")
    options = given.parse_args()
    percents = [int(text) for text in options.slowdowns.split(",")]
    end = time.monotonic() + 60.0 * options.minutes
    random = np.random.default_rng(1)
    # Each release as often as any other.
    places = [random.permutation(np.arange(options.bisections) % (RELEASES - 1)) + 1 for _ in percents]
    trials: list[Trial] = []
    with contextlib.ExitStack() as stack:
        project = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        project.mkdir(parents=True, exist_ok=True)
        _releases.write_plugin(project)
        stack.enter_context(_releases.served(project, percents))
        for number in range(options.bisections * len(percents)):
            turn, kind = divmod(number, len(percents))
            if time.monotonic() > end:
                break
            percent = percents[kind]
            trials.append(trial(project, number, percent, int(places[kind][turn]) if percent else None))
            print(trials[-1], file=sys.stderr, flush=True)
    print(summary(trials))


if __name__ == "__main__":
    main()
