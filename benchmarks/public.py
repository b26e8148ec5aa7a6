"""Compares the speed of our implementations with public ones of the same computation in the same framework.

    nox -s benchmarks -- public [--size SIZE] [--turns N] [--threads N] [--only PATTERN] [--interpreter NAME=PATH]
                                [--pyhpc FOLDER] [--packages] [--modes usual|requested|libraries] [--form PATTERN]

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
some of the public ones alone.

Before they are timed, public kernels are compared with the float64 reference, as ours are. A kernel that differs is not
timed: its row says "differs", and by how much. Networks have parameters of their own, so only the shapes and types of
their outputs are compared. Two kernels of pyhpc-benchmarks, isoneutral-mixing and turbulent-kinetic-energy, are not
compared, as they have inputs and borders of their own.

The attention of PyTorch, Keras and flax adds a bias to queries, keys and values, which the specification lacks, so
these public transformers do slightly more work than ours.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from tabulate import tabulate

from bench.cell import Cell
from bench.host import environments
from bench.host.environments import locks, variables
from bench.host.environments.__main__ import Own
from bench.host.study import study_file
from bench.host.study.schema import Study
from bench.host.study.selection import reason_against
from bench.record import OK
from bench.registry import BUILT_IN
from benchmarks.public_steps import pyhpc

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).resolve().parent / "public_steps" / "alternate.py"
WORKLOADS = (
    "mlp-train", "lenet-train", "lenet-input", "catdog-cnn-train", "transformer-encoder", "transformer-train",
    "lstm-lm-train", "batched-gemm", "conv2d", "conv2d-depthwise", "embedding-bag", "scatter-add", "random-normal",
    "random-uniform", "optimizer-step-sgd", "optimizer-step-adam", "optimizer-step-adamw", "per-sample-gradients",
    "hessian-vector", "equation-of-state", "isoneutral-mixing", "turbulent-kinetic-energy",
    "resnet18", "resnet50", "resnet18-train", "resnet50-train", "gpt", "gpt-train", "kv-decode",
)  # fmt: skip
#: The environments of other packages in which these are compared with them; see ``[dependency-groups]``.
PACKAGES = {
    "torch1": "public-torch1", "torch2": "public-torch", "torch-xla": "public-torch-xla", "tf2": "public-tensorflow",
    "jax": "public-jax",
}  # fmt: skip
#: {group: its columns}. Without modes of two devices.
COLUMNS = {
    "usual": (
        ("torch1", "eager"), ("torch1", "torchscript"), ("torch2", "eager"), ("torch2", "compile"),
        ("torch2", "compile-step"), ("tf2", "eager"), ("tf2", "eager-fused"), ("tf2", "function"), ("tf2", "xla"),
        ("jax", "jit"),
    ),
    "requested": (
        ("torch1", "torchscript-trace"), ("torch1", "torchscript-optimized"), ("torch1", "functorch"),
        ("torch1", "optimizer-loop"), ("torch1", "optimizer-foreach"), ("torch2", "torchscript"),
        ("torch2", "channels-last"), ("torch2", "channels-first"), ("torch2", "autocast"), ("torch2", "functorch"),
        ("torch2", "optimizer-loop"), ("torch2", "optimizer-foreach"), ("torch2", "compile-optimizer"),
        ("torch2", "compile-max-autotune"), ("torch2", "aot-inductor"), ("tf2", "function-concrete"),
        ("tf2", "xla-concrete"), ("tf2", "xla-auto"), ("jax", "eager"), ("jax", "jit-async"), ("jax", "jit-aot"),
        ("jax", "jit-loop"), ("jax-grain", "eager"), ("jax-grain", "jit"),
    ),
    "libraries": (
        ("keras-tf", "fit"), ("keras-tf", "fit-jit"), ("keras-tf", "train-on-batch"), ("keras-tf", "predict"),
        ("keras-tf", "predict-jit"), ("keras-jax", "fit"), ("keras-jax", "train-on-batch"), ("keras-jax", "predict"),
        ("keras-torch", "fit"), ("keras-torch", "fit-jit"), ("keras-torch", "train-on-batch"),
        ("keras-torch", "predict"), ("keras-torch", "predict-jit"), ("keras2-tf", "fit"), ("keras2-tf", "fit-jit"),
        ("keras2-tf", "train-on-batch"), ("keras2-tf", "predict"), ("keras2-tf", "predict-jit"), ("flax", "nnx"),
        ("flax", "nnx-functional"), ("flax", "linen"), ("haiku", "jit"), ("lightning", "fit"),
        ("lightning", "fit-compile"), ("tflite", "float32"), ("tflite", "int8"), ("tf1", "session"),
        ("tf2-session", "session"), ("theano", "function"), ("torch-xla", "xla"), ("torch-xla", "compile-openxla"),
    ),
}  # fmt: skip
TIMEOUT_S = 1800
LIMIT = 1.05
FAILED, DIFFERS = "failed", "differs"


def verdict(low: float, high: float) -> str:
    """Judge by the middle half of the ratios: not slower, slower, or unclear."""
    if high <= LIMIT:
        return "not slower"
    return "slower" if low > LIMIT else "unclear"


def compare(
    command: tuple[str, ...], arguments: list[str], threads: int, own: Mapping[str, str] = MappingProxyType({})
) -> list[list[str]]:
    """Return the cells of rows: one of the times, and one of each public one that differs from ours and is not timed.

    There are none where ours or the public ones are missing. A row ends with ``FAILED`` where a program fails or takes
    too long; the reason is printed. ``own`` are the variables of the environment.
    """
    extra = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2", **own}
    try:
        done = subprocess.run(
            [*command, str(PROGRAM), *arguments],
            env=variables.of_worker(threads, BUILT_IN.facts(arguments[0]), own=extra, interpreter=command[0]),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        announce(f"{' '.join(arguments)}: not finished after {TIMEOUT_S} s")
        return [without_times(FAILED)]
    if done.returncode:
        announce(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return [without_times(FAILED)]
    found = json.loads(done.stdout.splitlines()[-1])
    rows = [without_times(f"{DIFFERS}: {words}", name) for name, words in found["differing"].items()]
    return [summarise(found["times"]), *rows] if found["times"] else rows


def without_times(word: str, public: str = "-") -> list[str]:
    return ["-", "-", public, "-", "-", word]


def summarise(seconds: dict[str, list[float]]) -> list[str]:
    """Return both medians, median and quartiles of the ratios of the turns, and the verdict."""
    times = {name: np.array(found) for name, found in seconds.items()}
    ours = times.pop("ours")
    fastest = min(times, key=lambda name: float(np.median(times[name])))
    low, middle, high = np.quantile(ours / times[fastest], [0.25, 0.5, 0.75])
    return [
        f"{np.median(ours) * 1e6:.0f}",
        f"{np.median(times[fastest]) * 1e6:.0f}",
        fastest,
        f"{middle:.2f}",
        f"{low:.2f} to {high:.2f}",
        verdict(low, high),
    ]


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
    prepared = environments.load_outcome(environment, root=ROOT)
    if prepared is None or prepared.status != OK:
        raise SystemExit(f"environment {environment} is not prepared: run nox -s tests once")
    return prepared.command


@functools.cache
def prepare(name: str) -> tuple[str, ...]:
    """Build an environment of other packages and return its command."""
    python, requirements = locks.own(ROOT)[name]
    prepared = environments.attempt(Own(python, requirements, name=name), environments.Preparation(ROOT, announce))
    if prepared.status != OK:
        raise SystemExit(f"{name}: {prepared.status}: {prepared.reason}")
    return prepared.command


def announce(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


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
            rows.append([environment, mode, workload, *found])
            announce("  ".join(rows[-1]))
    headers = [
        "environment", "mode", "workload", "ours / µs", "public / µs", "fastest public", "ours / public", "middle half",
        "verdict",
    ]  # fmt: skip
    print(tabulate(rows, headers, "github", disable_numparse=True))
    return int(any(row[-1].startswith(("slower", FAILED, DIFFERS)) for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
