"""Compares the speed of our implementations with public ones of the same computation in the same framework.

    nox -s benchmarks -- public [--size SIZE] [--turns N] [--threads N] [--only PATTERN] [--interpreter NAME=PATH]
                                [--pyhpc FOLDER] [--packages] [--modes usual|requested|libraries] [--form PATTERN]
                                [--write]

All run in one process of the environment and take turns, so that a slow minute affects all of them. The public ones use
the framework's own parts: torch.nn and torch.optim; Keras layers and optimizers in a custom loop and in train_on_batch;
jax.example_libraries and jax.nn; flax where it is installed (``--interpreter jax=PATH`` names a Python that has it). A
ratio compares ours with the fastest of them; below 1 ours is faster. Ours must not be slower by more than the limit.
Where the middle half of a row's ratios contains the limit, the machine was too busy and the verdict is "unclear". One
thread, which is timed by its processor time, gives steadier figures on a busy machine.

The kernels of an ocean model are compared with those of pyhpc-benchmarks, of which ``--pyhpc`` names a checkout. Other
kernels are compared with the functions and recipes that a framework's documentation has for them. A row without a
public implementation is left out.

Residual networks, GPT and its decoding are compared with those of torchvision, transformers, flax' examples,
keras.applications and keras_hub. ``--packages`` builds environments with these (9 GB, and 7 for PyTorch/XLA), and
measures every row of these frameworks in them; without it, such rows are left out.

``--modes requested`` compares the modes that a study measures on request, where the public networks and kernels run
under the same transformation as ours. ``--modes libraries`` compares Keras, Flax, Haiku, Lightning, PyTorch/XLA,
TensorFlow Lite, TensorFlow 1.x' graphs and Theano with what their guides and examples write. It needs their
environments, which ``nox -s bench-NAME`` builds, or interpreters that have their packages. ``--form`` compares with
some of the public ones alone. ``--write`` puts each row into the file of the documentation, in place of what the file
has of that cell, and renews the tables of the pages as public_tables.py does.

Before they are timed, public kernels are compared with the float64 reference, as ours are. A kernel that differs is not
timed: its row says "differs", and by how much. Networks have parameters of their own, so only the shapes and types of
their outputs are compared. Two kernels of pyhpc-benchmarks, isoneutral-mixing and turbulent-kinetic-energy, are not
compared, as they have inputs and borders of their own.

The attention of PyTorch, Keras and flax adds a bias to queries, keys and values, which the specification lacks, so
these public transformers do slightly more work than ours.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import functools
import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tabulate import tabulate

from bench.cell import Cell
from bench.host import environments
from bench.host.analysis.versions import framework_version, names_of
from bench.host.environments import locks
from bench.host.machine import facts
from bench.host.study import study_file
from bench.host.study.schema import Study
from bench.host.study.selection import reason_against
from bench.record import OK
from benchmarks import public_tables
from benchmarks._environments import ROOT, interpreter_of, variables_of
from benchmarks._public_rows import COLUMNS, WORKLOADS, Row, load, store, summarise
from benchmarks.public_steps import pyhpc

PROGRAM = Path(__file__).resolve().parent / "public_steps" / "alternate.py"
#: The environments of other packages in which these are compared with them; see ``[dependency-groups]``.
PACKAGES = {
    "torch1": "public-torch1", "torch2": "public-torch", "torch-xla": "public-torch-xla", "tf2": "public-tensorflow",
    "jax": "public-jax",
}  # fmt: skip
TIMEOUT_S = 1800
FAILED, DIFFERS = "failed", "differs"


class Found(NamedTuple):
    """What a program found: the parts of a row of the file, of which there are none without times, and the verdict."""

    verdict: str
    public: str = "-"
    row: Mapping[str, str] = MappingProxyType({})


def compare(
    command: tuple[str, ...], arguments: list[str], threads: int, own: Mapping[str, str] = MappingProxyType({})
) -> list[Found]:
    """Return what is found of the times, and of each public one that differs from ours and is not timed.

    It is empty where ours or the public ones are missing. The verdict is ``FAILED`` where a program fails or takes too
    long; the reason is printed. ``own`` are the variables of the environment.
    """
    try:
        done = subprocess.run(
            [*command, str(PROGRAM), *arguments],
            env=variables_of(command, arguments[0], threads, own),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        announce(f"{' '.join(arguments)}: not finished after {TIMEOUT_S} s")
        return [Found(FAILED)]
    if done.returncode:
        announce(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return [Found(FAILED)]
    found = json.loads(done.stdout.splitlines()[-1])
    differing = [Found(f"{DIFFERS}: {words}", name) for name, words in found["differing"].items()]
    if not found["times"]:
        return differing
    word, row = summarise(found["times"])
    row["version"] = framework_version(names_of(arguments[0]), found["versions"]) or ""
    return [Found(word, row["public"], row), *differing]


def printed(found: Found) -> list[str]:
    """Return the cells of a row of the printed table."""
    if not found.row:
        return ["-", "-", found.public, "-", "-", found.verdict]
    ratio, low, high = (f"{float(found.row[name]):.2f}" for name in ("ratio", "low", "high"))
    return [found.row["ours_us"], found.row["public_us"], found.public, ratio, f"{low} to {high}", found.verdict]


def is_excluded(study: Study, environment: str, mode: str, workload: str, size: str) -> bool:
    """Tell whether the full study has no such cell."""
    framework = str(study.environments[environment].framework)
    cell = Cell(environment, framework, mode, workload, size, "float32", "cpu", 1)
    return reason_against(cell, study, chosen=True) is not None


def command_of(environment: str, given: dict[str, str], packages: bool) -> tuple[str, ...]:
    if environment in given:
        return (given[environment],)
    if packages and environment in PACKAGES:
        return prepare(PACKAGES[environment])
    return interpreter_of(environment)


@functools.cache
def prepare(name: str) -> tuple[str, ...]:
    """Build an environment of other packages and return its command."""
    wanted = locks.own_environment(name, ROOT)
    prepared = environments.attempt(wanted, environments.Preparation(ROOT, announce))
    if prepared.status != OK:
        raise SystemExit(f"{name}: {prepared.status}: {prepared.reason}")
    return prepared.command


def announce(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def publish(row: Row) -> None:
    """Put a row into the documentation: into the file and, made of that, the pages."""
    store([*load(), row])
    public_tables.main(["--write"])


def here_and_now() -> dict[str, str]:
    version = facts.processor_version(facts.processor_facts())
    machine = f"{facts.processor_model()} ({version})" if version else facts.processor_model()
    return {"machine": machine, "date": datetime.date.today().isoformat()}


def main(arguments: list[str]) -> int:
    """Print the table; exit 1 where ours is slower than the limit allows, a public one differs, or a row failed."""
    parser = argparse.ArgumentParser("nox -s benchmarks -- public")
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="*", help="environment:mode:workload, with * and ?")
    parser.add_argument("--form", default="*", help="the public ones that are compared, with * and ?")
    parser.add_argument("--interpreter", action="append", default=[], metavar="ENVIRONMENT=PATH")
    parser.add_argument("--pyhpc", type=Path, help="a checkout of pyhpc-benchmarks")
    parser.add_argument("--packages", action="store_true", help="compare with those of torchvision and its like, too")
    parser.add_argument("--modes", choices=COLUMNS, default="usual", help="which columns are compared")
    parser.add_argument("--write", action="store_true", help="put the rows into the documentation")
    options = parser.parse_args(arguments)
    given = dict(text.split("=", 1) for text in options.interpreter)
    study = study_file.load(ROOT / "studies" / "full.toml")
    rows = []
    for (environment, mode), workload in itertools.product(COLUMNS[options.modes], WORKLOADS):
        if not fnmatch.fnmatch(f"{environment}:{mode}:{workload}", options.only):
            continue
        if is_excluded(study, environment, mode, workload, options.size):
            continue
        if workload in pyhpc.KERNELS and not options.pyhpc:
            continue
        framework = str(study.environments[environment].framework)
        asked = [framework, mode, workload, options.size, str(options.turns)]
        asked += [str(options.pyhpc.resolve()) if options.pyhpc else "", options.form]
        own = study.environments[environment].variables
        for found in compare(command_of(environment, given, options.packages), asked, options.threads, own):
            rows.append([environment, mode, workload, *printed(found)])
            announce("  ".join(rows[-1]))
            if options.write and found.row:
                cell = {"environment": environment, "mode": mode, "workload": workload, "size": options.size}
                publish(Row(**cell, forms=options.form.strip("*"), **found.row, **here_and_now()))
    headers = [
        "environment", "mode", "workload", "ours / µs", "public / µs", "fastest public", "ours / public", "middle half",
        "verdict",
    ]  # fmt: skip
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(any(row[-1].startswith(("slower", FAILED, DIFFERS)) for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
