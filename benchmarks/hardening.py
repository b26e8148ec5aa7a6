"""Measures the processor time that protection against wrong programs and damaged files takes of a run.

    nox -s benchmarks -- hardening [--pairs 30] [--environments jax,torch1] [--workloads '*'] [--without late,…]

The reference run is what ``nox`` measures: the default study with all of its environments and workloads, profile quick,
3 rounds, its report included. One such run fills the caches of the compilers, so that the time of compiling does not
make the shares smaller. In the next one the time of each part is counted; so the shares do not depend on the noise of a
whole run. The row "start" is what a host does once: it defines messages and files, and starts the guard. The goal is
that all shares are at most 1 % together.

Each pair of runs also compares the whole processor time, that of all processes, with all parts and without those of
``--without`` (all by default). The order is reversed from pair to pair, the seed is the same. The ratio is a geometric
mean with its 95 % confidence interval (t over the pairs). ``--kept FILE`` keeps each pair, and goes on after those that
the file has. Small runs make more pairs: for 30 in 20 minutes, choose a part of the workloads.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import math
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from scipy import stats
from tabulate import tabulate

from bench.host import environments
from bench.host.environments import Prepared, contents
from bench.host.measuring import study_run
from bench.host.study import selection, study_file
from bench.host.study.plan import Plan
from bench.host.study.schema import Study
from bench.record import OK, UNSUPPORTED

from ._protection import HOST, Counter, copy_code, patched, start_s

ROOT = Path(__file__).resolve().parents[1]
STUDY = "hardening"
GOAL = 0.01


def used_s() -> float:
    """Return the processor time of this process and of all that it started and waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def write_study(path: Path) -> Path:
    """Write the default study under another name, so that no results of its own are replaced."""
    text = (ROOT / "matrix.toml").read_text()
    path.write_text(text.replace('name = "default"', f'name = "{STUDY}"'))
    return path


def prepared_of(study: Study, names: Sequence[str], interpreters: Mapping[str, str]) -> dict[str, Prepared]:
    """Prepare the environments; one with an interpreter is taken as it is."""
    return {
        name: Prepared(name, OK, command=(interpreters[name],))
        if name in interpreters
        else environments.prepare(study.environments[name], root=ROOT, announce=print, registry=study.registry)
        for name in names
    }


class Comparison:
    """Runs of the same cells with all parts and without some."""

    def __init__(
        self, place: Path, study: Study, plan: Plan, prepared: Mapping[str, Prepared], without: Sequence[str]
    ) -> None:
        self._place, self._study, self._plan, self._prepared = place, study, plan, prepared
        self.counter = Counter()
        self._without = without
        for way in ("counted", "with", "without"):
            (place / way).mkdir()
        self._code = {
            "counted": copy_code(place / "counted", (), place),
            "with": copy_code(place / "with", (), None),
            "without": copy_code(place / "without", without, None),
        }
        #: The processor time of each run whose parts were counted.
        self.counted: list[float] = []

    def _other(self, way: str, part: str, owner: object, name: str, nothing: object) -> object:
        own = getattr(owner, name)
        if way != "without" and name == "altered":
            own = functools.partial(self._altered, own)
        if way == "counted":
            return self.counter.of(part, own)
        return nothing if way == "without" and part in self._without else own

    @staticmethod
    def _altered(own: Callable[..., dict[str, str]], prepared: Mapping[str, Prepared], root: Path) -> dict[str, str]:
        """Look at the files of all environments, also of those whose interpreter was given: the same work."""
        for one in prepared.values():
            if not one.manifest:
                contents.measure(Path(one.command[0]).parents[1])
        return own(prepared, root)

    def run(self, way: str) -> float:
        """Measure the cells once; return the processor time."""
        shutil.rmtree(ROOT / "reports" / STUDY, ignore_errors=True)
        console = Console(file=io.StringIO())
        with patched(self._code[way], functools.partial(self._other, way)):
            began = used_s()
            measured = study_run.StudyRun(ROOT, self._study, self._plan, self._prepared, console)
            records = measured.measure(fresh=True)
        bad = [record for record in records if record.status not in (OK, UNSUPPORTED)]
        if bad:
            raise SystemExit(f"{bad[0].cell.name}: {bad[0].status}: {bad[0].reason}")
        return used_s() - began

    def count(self) -> None:
        """Measure the cells once, and count what each part takes."""
        self.counted.append(self.run("counted"))

    def seconds(self) -> dict[str, float]:
        """Return the processor time that each part took in a run, the mean of those that were counted."""
        found = {}
        for part, host_s in self.counter.seconds.items():
            counts = self._place / part
            worker_ns = sum(map(int, counts.read_text().split())) if counts.exists() else 0
            found[part] = (host_s + worker_ns / 1e9) / len(self.counted)
        return {**found, "start": start_s()}


def print_shares(compared: Comparison) -> float:
    """Print what each part took; return the share of all."""
    seconds, whole_s = compared.seconds(), statistics.mean(compared.counted)
    seconds["together"] = sum(seconds.values())
    rows = [[part, f"{1000 * s:.0f}", f"{100 * s / whole_s:.2f}"] for part, s in seconds.items()]
    print(f"Counted in {len(compared.counted)} runs of {whole_s:.1f} s of processor time:")
    print(tabulate(rows, ["part", "time / ms", "share / %"], "github", disable_numparse=True), flush=True)
    return seconds["together"] / whole_s


def print_ratio(pairs: Sequence[tuple[float, float]], parts: Sequence[str]) -> None:
    """Print the ratio of the processor times of the pairs, (with, without)."""
    ratios = [math.log(used / other) for used, other in pairs]
    mean = statistics.mean(ratios)
    said = f"{len(pairs)} pairs, with over without {', '.join(parts)}: {100 * math.expm1(mean):+.2f} %"
    if len(pairs) > 1:
        half = float(stats.t.ppf(0.975, len(ratios) - 1)) * statistics.stdev(ratios) / math.sqrt(len(ratios))
        low, high = (100 * math.expm1(mean + end) for end in (-half, half))
        said += f" [{low:+.2f}, {high:+.2f}]"
    print(said, flush=True)


def compare(compared: Comparison, count: int, kept: Path | None, parts: Sequence[str]) -> None:
    """Measure pairs until there are ``count``, and print the ratio after each."""
    done = [] if kept is None or not kept.exists() else [json.loads(line) for line in kept.read_text().splitlines()]
    pairs = [(float(used), float(other)) for used, other in done]
    for number in range(len(pairs), count):
        order = ("with", "without") if number % 2 else ("without", "with")
        used = {way: compared.run(way) for way in order}
        pairs.append((used["with"], used["without"]))
        if kept is not None:
            with kept.open("a") as file:
                file.write(json.dumps(pairs[-1]) + "\n")
        print(f"pair {number + 1}: {used['with']:.2f} s with, {used['without']:.2f} s without", flush=True)
        print_ratio(pairs, parts)


def main(arguments: list[str]) -> int:
    """Print the shares and the ratio; exit 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counted", type=int, default=1, metavar="RUNS", help="runs in which the parts are counted")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--kept", type=Path, metavar="FILE", help="where the pairs are kept")
    parser.add_argument("--environments", help="those of the default study, if none is named")
    parser.add_argument("--workloads", default="*")
    parser.add_argument("--without", default=",".join(HOST), metavar="PART,…")
    parser.add_argument("--interpreter", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args(arguments)
    parts = options.without.split(",")
    share = 0.0
    with tempfile.TemporaryDirectory() as place:
        study = study_file.load(write_study(Path(place) / "study.toml"))
        names = options.environments.split(",") if options.environments else list(study.settings.default)
        prepared = prepared_of(study, names, dict(each.split("=", 1) for each in options.interpreter))
        plan = selection.select(study, selection.Selection(environments=names, workloads=options.workloads.split(",")))
        compared = Comparison(Path(place), study, plan, prepared, parts)
        compared.run("without")  # It fills the caches.
        for _ in range(options.counted):
            compared.count()
        if options.counted:
            share = print_shares(compared)
        compare(compared, options.pairs, options.kept, parts)
    shutil.rmtree(ROOT / "reports" / STUDY, ignore_errors=True)
    return int(share > GOAL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
