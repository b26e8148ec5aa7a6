"""Keeps what comparisons with public implementations found in a file of the documentation, one row for each."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).resolve().parents[1] / "docs" / "public-implementations.csv"
#: The order of the rows of a column.
WORKLOADS = (
    "mlp-train", "lenet-train", "lenet-input", "catdog-cnn-train", "transformer-encoder", "transformer-train",
    "lstm-lm-train", "resnet18", "resnet18-train", "resnet50", "resnet50-train", "gpt", "gpt-train", "kv-decode",
    "batched-gemm", "conv2d", "conv2d-depthwise", "embedding-bag", "scatter-add", "random-normal", "random-uniform",
    "optimizer-step-sgd", "optimizer-step-adam", "optimizer-step-adamw", "per-sample-gradients", "hessian-vector",
    "equation-of-state", "isoneutral-mixing", "turbulent-kinetic-energy",
)  # fmt: skip
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
        ("torch2", "compile-max-autotune"), ("torch2", "aot-inductor"), ("tf2", "function-frozen"),
        ("tf2", "function-concrete"), ("tf2", "xla-concrete"), ("tf2", "xla-auto"), ("jax", "eager"),
        ("jax", "jit-async"), ("jax", "jit-aot"),
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
SIZES = ("tiny", "small")
LIMIT = 1.05


class Row(NamedTuple):
    """What one comparison found, as text; what is not known is empty."""

    workload: str
    environment: str
    #: That of the framework.
    version: str
    mode: str
    size: str
    #: The ``--form`` that chose public ones; empty where all were compared.
    forms: str
    #: The fastest public one.
    public: str
    #: Time of ours by time of that one: the median of the turns, and the quartiles.
    ratio: str
    low: str
    high: str
    ours_us: str = ""
    public_us: str = ""
    turns: str = ""
    machine: str = ""
    date: str = ""

    @property
    def cell(self) -> tuple[str, ...]:
        return self.environment, self.mode, self.workload, self.size


def verdict(low: float, high: float) -> str:
    """Judge by the middle half of the ratios: not slower, slower, or unclear."""
    if high <= LIMIT:
        return "not slower"
    return "slower" if low > LIMIT else "unclear"


def summarise(seconds: Mapping[str, list[float]]) -> tuple[str, dict[str, str]]:
    """Return the verdict and what a row has of the times, ``{name: seconds of each turn}``; "ours" are ours."""
    times = {name: np.array(found) for name, found in seconds.items()}
    ours = times.pop("ours")
    fastest = min(times, key=lambda name: float(np.median(times[name])))
    low, middle, high = np.quantile(ours / times[fastest], [0.25, 0.5, 0.75])
    ours_us, public_us = (f"{np.median(found) * 1e6:.0f}" for found in (ours, times[fastest]))
    ratios = {"ratio": f"{middle:.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}
    row = {"public": fastest, **ratios, "ours_us": ours_us, "public_us": public_us, "turns": str(len(ours))}
    return verdict(low, high), row


def load(file: Path | None = None) -> list[Row]:
    with (file or FILE).open(encoding="utf-8", newline="") as lines:
        return [Row(**row) for row in csv.DictReader(lines)]


def store(rows: Iterable[Row], file: Path | None = None) -> None:
    """Write rows in the order of their columns. Of rows of the same cell and forms, the last one is kept."""
    latest = {(*row.cell, row.forms): row for row in rows}
    with (file or FILE).open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(sorted(latest.values(), key=_place))


def _place(row: Row) -> tuple[int | str, ...]:
    columns = [column for group in COLUMNS.values() for column in group]
    place = columns.index((row.environment, row.mode)), WORKLOADS.index(row.workload), SIZES.index(row.size)
    return (*place, row.forms)
