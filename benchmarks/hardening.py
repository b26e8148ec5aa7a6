"""Measures the processor time that protection against wrong programs and damaged files takes of a quick run.

    nox -s benchmarks -- hardening [--pairs 8] [--environments jax] [--workloads gemm,mlp-train,…] [--without late,…]

The same small run, report included, is measured with all parts and without those of ``--without`` (all by default), in
turn, the order reversed from pair to pair. The ratio is of the processor time of the host with all processes that it
started, as a geometric mean with its 95 % confidence interval (t over the pairs). In the runs with all parts, the time
that each takes is counted, too: these shares vary much less than the ratio. Parts are switched off here alone, by
patches and in a copy of the package; no option of a user does it. The goal is that all shares are at most 1 % together.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import functools
import io
import json
import math
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from scipy import stats
from tabulate import tabulate

from bench.host import environments, project
from bench.host.environments import Prepared
from bench.host.executors import host_clock, other_processes
from bench.host.measuring import study_run
from bench.host.storage import lines
from bench.host.study import selection, study_file
from bench.host.study.plan import Plan
from bench.host.study.schema import Study
from bench.host.workers import guard, log_limit, messages, requests
from bench.record import OK

ROOT = Path(__file__).resolve().parents[1]
STUDY = "hardening"
GOAL = 0.01
WORKLOADS = "dispatch,gemm,mlp-train,transformer-encoder"
#: {part: {module of the worker ring: {what the part consists of there: what takes its place}}}
WORKER = {
    "late": {"checking/late.py": {"LateCheck.verify": "lambda *_: 0"}},
    "processes": {
        "family.py": {
            "stop": "lambda process: send_group(process, signal.SIGSTOP) or []",
            "end": "lambda process: send_group(process, signal.SIGKILL)",
        },
        "parent.py": {"Parent._end_orphans": "lambda _: None"},
    },
}
#: Written behind such a module: each call adds the processor time that it took to a file.
COUNTING = """
import time as _time

def _counted(function):
    def call(*given, **named):
        began = _time.process_time_ns()
        try:
            return function(*given, **named)
        finally:
            with open({file!r}, "a") as file:
                file.write("%d\\n" % (_time.process_time_ns() - began))
    return call
"""
#: {part: {what it consists of on the host: what takes its place}}
HOST: Mapping[str, Sequence[tuple[object, str, object]]] = {
    "late": (),
    "clock": [(host_clock.HostClock, "verify", lambda *_: None)],
    "processes": [
        (other_processes.OtherProcesses, "begin", lambda *_: None),
        (other_processes.OtherProcesses, "add", lambda *_: None),
        (guard.Ward, "end", lambda _: None),
    ],
    "messages": [(messages, "check", lambda *_: None), (requests, "check", lambda *_: None)],
    "logs": [(log_limit, "limit", lambda _: None)],
    "journal": [(lines, "sealed", lambda values: json.dumps(values) + "\n")],
    "environments": [(study_run, "altered", lambda *_: {})],
}


def copy_code(folder: Path, without: Sequence[str], counts: Path | None) -> Path:
    """Copy the package to ``folder`` and compile it; return the folder.

    Parts of the worker ring are switched off, or with ``counts`` write there what each call takes.
    """
    kept = shutil.ignore_patterns("__pycache__", "data")
    package = Path(shutil.copytree(project.PACKAGE, folder / project.PACKAGE.name, ignore=kept))
    for part, modules in WORKER.items():
        for module, names in modules.items():
            with (package / "worker" / module).open("a") as file:
                if counts is not None:
                    file.write(COUNTING.format(file=str(counts / part)))
                    file.write("".join(f"{name} = _counted({name})\n" for name in names))
                elif part in without:
                    file.write("".join(f"{name} = {other}\n" for name, other in names.items()))
    # Workers write no bytecode.
    compileall.compile_dir(package, quiet=1)
    return folder


class Counter:
    """The processor time of the parts of the host."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(HOST, 0.0)

    def of(self, part: str, function: Any) -> Any:
        """Return the function with its processor time counted."""

        def call(*given: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return function(*given, **named)
            finally:
                self.seconds[part] += time.process_time() - began

        return call


@contextlib.contextmanager
def patched(code: Path, other: Callable[[str, object, str, object], object]) -> Iterator[None]:
    """Let workers start from the copy at ``code``, and replace the parts of the host by what ``other`` returns."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(project, "code_folder", return_value=code))
        for part, pieces in HOST.items():
            for owner, name, nothing in pieces:
                stack.enter_context(mock.patch.object(owner, name, other(part, owner, name, nothing)))
        yield


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
        else environments.current(study.environments[name], root=ROOT, announce=print, registry=study.registry)
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
        self._code = {
            "with": copy_code(place / "with", (), place),
            "without": copy_code(place / "without", without, None),
        }
        #: Processor time of all runs with all parts.
        self.seconds = 0.0

    def _other(self, way: str, part: str, owner: object, name: str, nothing: object) -> object:
        own = getattr(owner, name)
        if way == "with":
            return self.counter.of(part, own)
        return nothing if part in self._without else own

    def run(self, way: str) -> float:
        """Measure the cells once; return the processor time."""
        shutil.rmtree(ROOT / "reports" / STUDY, ignore_errors=True)
        console = Console(file=io.StringIO())
        with patched(self._code[way], functools.partial(self._other, way)):
            began = used_s()
            measured = study_run.StudyRun(ROOT, self._study, self._plan, self._prepared, console)
            records = measured.measure(fresh=True)
        bad = [record for record in records if record.status != OK]
        if bad:
            raise SystemExit(f"{bad[0].cell.name}: {bad[0].status}: {bad[0].reason}")
        used = used_s() - began
        self.seconds += used if way == "with" else 0.0
        return used

    def shares(self) -> dict[str, float]:
        """Return the share of the processor time that each part took, of all runs with all parts."""
        found = {}
        for part, host_s in self.counter.seconds.items():
            counts = self._place / part
            worker_ns = sum(map(int, counts.read_text().split())) if counts.exists() else 0
            found[part] = (host_s + worker_ns / 1e9) / self.seconds
        return found


def main(arguments: list[str]) -> int:
    """Print the shares and the ratio; exit 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--environments", default="jax")
    parser.add_argument("--workloads", default=WORKLOADS)
    parser.add_argument("--without", default=",".join(HOST), metavar="PART,…")
    parser.add_argument("--interpreter", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args(arguments)
    names, parts = options.environments.split(","), options.without.split(",")
    with tempfile.TemporaryDirectory() as place:
        study = study_file.load(write_study(Path(place) / "study.toml"))
        prepared = prepared_of(study, names, dict(each.split("=", 1) for each in options.interpreter))
        plan = selection.select(study, selection.Selection(environments=names, workloads=options.workloads.split(",")))
        compared = Comparison(Path(place), study, plan, prepared, parts)
        compared.run("without")  # It fills the caches.
        ratios = []
        for number in range(options.pairs):
            order = ("with", "without") if number % 2 else ("without", "with")
            used = {way: compared.run(way) for way in order}
            ratios.append(math.log(used["with"] / used["without"]))
            print(f"pair {number + 1}: {used['with']:.2f} s with, {used['without']:.2f} s without", flush=True)
        shares = compared.shares()
    shutil.rmtree(ROOT / "reports" / STUDY, ignore_errors=True)
    rows = [[part, f"{100 * share:.2f}"] for part, share in shares.items()]
    total = sum(shares.values())
    print(
        tabulate([*rows, ["together", f"{100 * total:.2f}"]], ["part", "counted / %"], "github", disable_numparse=True)
    )
    mean = statistics.mean(ratios)
    half = float(stats.t.ppf(0.975, len(ratios) - 1)) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    low, high = (100 * math.expm1(mean + end) for end in (-half, half))
    print(f"with over without {', '.join(parts)}: {100 * math.expm1(mean):+.2f} % [{low:+.2f}, {high:+.2f}]")
    return int(total > GOAL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
