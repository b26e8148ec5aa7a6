"""Tests what the check of the full study recorded of the default environments; ``nox -s grid`` makes that check first.

The check itself compares every cell with float64, before it is timed and again through what timed samples run.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from modes import SEVERAL, compiled

from bench.cell import Cell
from bench.host.storage import archive, journal
from bench.host.study import selection, study_file
from bench.record import OK, UNSUPPORTED, Record
from bench.registry import BUILT_IN

ROOT = Path(__file__).resolve().parents[2]
FULL = study_file.load(ROOT / "studies" / "full.toml")
DEFAULT = study_file.load(ROOT / "matrix.toml")
ENVIRONMENTS = (*DEFAULT.settings.default, "numpy")
COLUMNS = [(name, mode) for name in ENVIRONMENTS for mode in FULL.environments[name].modes]
#: {mode: layout of its images, read off what the first convolution returned}
LAYOUTS = {"channels-last": "NCHW, channels_last", "channels-first": "NCHW"}
pytestmark = [pytest.mark.real, pytest.mark.long]
every_column = pytest.mark.parametrize(("environment", "mode"), COLUMNS)


@functools.cache
def records() -> dict[Cell, Record]:
    folder = archive.folder_of(ROOT, FULL.settings.name, trial=True)
    found = {record.cell: record for record in journal.read(folder)} if folder.is_dir() else {}
    assert found, f"{folder} has no records: nox -s grid -- default-study checks the full study before these tests"
    return found


def of_column(environment: str, mode: str, status: str) -> dict[Cell, Record]:
    return {
        cell: record
        for cell, record in records().items()
        if (cell.environment, cell.mode) == (environment, mode) and record.status == status
    }


def is_training(cell: Cell) -> bool:
    return bool(BUILT_IN.specification(cell.workload).TRAINING)


def test_every_cell_that_the_study_has_was_checked():
    chosen = selection.Selection(list(ENVIRONMENTS), profile="check", threads=1)
    assert set(selection.select(FULL, chosen).cells) == set(records())


#: Training whose backward TorchScript leaves to PyTorch, and inference that has one.
FORWARD_ALONE = ("lstm-lm-train", "resnet18-train", "resnet50-train")
WITH_BACKWARD = ("layernorm-softmax-backward",)


@every_column
def test_what_is_compiled_is_what_the_mode_says(environment, mode):
    for cell, record in of_column(environment, mode, OK).items():
        backward = is_training(cell)
        if mode.startswith("torchscript"):
            backward = cell.workload in WITH_BACKWARD or (backward and cell.workload not in FORWARD_ALONE)
        assert record.settings["compiled"] == compiled(environment, mode, backward), cell.name


@every_column
def test_weights_are_frozen_for_inference_in_the_modes_that_do_so(environment, mode):
    for cell, record in of_column(environment, mode, OK).items():
        frozen = mode == "function-frozen" or (mode == "compile-max-autotune" and not is_training(cell))
        assert record.settings.get("frozen weights") == (True if frozen else None), cell.name


@every_column
def test_only_asynchronous_inference_is_waited_for_at_every_step(environment, mode):
    """Steps that need each other are waited for at the end of a sample."""
    for cell, record in of_column(environment, mode, OK).items():
        every = mode == "jit-async" and not is_training(cell)
        assert record.settings["synchronised"] == ("every step" if every else "every sample"), cell.name


@pytest.mark.parametrize("environment", ["torch1", "torch2"])
def test_images_have_the_layout_of_the_mode(environment):
    asked = [mode for mode in FULL.environments[environment].modes if mode in LAYOUTS]
    for mode in asked:
        found = of_column(environment, mode, OK)
        assert len(found) > 5
        assert {record.settings["layout"] for record in found.values()} == {LAYOUTS[mode]}


IF_OF_PYTHON = "an if of Python is for eager, xla and torch.compile: see branch-if"
WITHOUT_GRAIN = "grain is not installed, and JAX has no input pipeline of its own: see jax-grain"
#: What modes cannot compute: (environment, modes, the reason or a part of it, workloads).
REFUSED = [
    ("torch1", ("torchscript", "torchscript-trace", "torchscript-optimized"), IF_OF_PYTHON, {"branch-python"}),
    ("torch2", ("torchscript", "aot-inductor"), IF_OF_PYTHON, {"branch-python"}),
    (
        "torch1",
        ("torchscript-optimized",),
        "optimize_for_inference takes a module for inference: see torchscript",
        {"gemm", "batched-gemm"},
    ),
    ("torch1", ("functorch",), "does not see the weights of nn.LSTM", {"lstm-lm-train"}),
    ("torch2", ("aot-inductor",), "each library of AOTInductor has buffers of its own", {"kv-decode"}),
    ("torch2", ("channels-last", "channels-first"), "the layout is the workload's: see conv2d", {"conv2d-nchw"}),
    (
        "tf2",
        ("function-frozen",),
        "gradients are taken of weights that change: see function",
        {"hessian-vector", "layernorm-softmax-backward", "per-sample-gradients", "per-sample-gradients-loop"},
    ),
    ("tf2", ("function-frozen",), "its parameters are a grid", {"isoneutral-mixing", "turbulent-kinetic-energy"}),
    (
        "tf2",
        ("function-frozen",),
        "makes constants of weights, and this has none: see function",
        {
            "attention-causal", "attention-full", "batched-gemm", "equation-of-state", "gather", "gemm",
            "random-normal", "random-uniform", "scatter-add",
        },
    ),
    (
        "tf2",
        ("xla-auto",),
        "auto-clustering found no operations to join in this program: see function",
        {
            "batched-gemm", "conv2d", "conv2d-depthwise", "conv2d-nchw", "embedding-bag", "gather", "gemm",
            "random-normal", "random-uniform", "scatter-add",
        },
    ),
    ("jax", ("eager",), WITHOUT_GRAIN, {"input-pipeline", "lenet-input"}),
    ("jax", ("jit", "jit-async", "jit-aot"), WITHOUT_GRAIN, {"lenet-input"}),
    ("jax", ("jit-loop",), "places its batches before it is timed", {"lenet-input"}),
]  # fmt: skip


def refused(environment: str, mode: str, reason: str) -> set[str]:
    found = of_column(environment, mode, UNSUPPORTED).items()
    return {cell.workload for cell, record in found if reason in str(record.reason)}


def test_modes_refuse_what_they_cannot_compute():
    for environment, modes, reason, workloads in REFUSED:
        for mode in modes:
            assert refused(environment, mode, reason) == workloads, f"{environment}:{mode}: {reason}"


@every_column
def test_a_mode_refuses_nothing_else(environment, mode):
    known = [reason for name, modes, reason, _ in REFUSED if name == environment and mode in modes]
    # The check has one thread. PyTorch 1.13 has next to no kernels for float16.
    known += ["divides threads among 2 devices"] if mode in SEVERAL else []
    known += ["no kernel for float16"] if environment == "torch1" else []
    for cell, record in of_column(environment, mode, UNSUPPORTED).items():
        assert any(part in str(record.reason) for part in known), f"{cell.name}: {record.reason}"
