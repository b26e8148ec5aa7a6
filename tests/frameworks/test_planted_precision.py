"""Tests that a cell which computes in TF32 or bfloat16, but says float32, ends as a mismatch."""

from __future__ import annotations

import pytest
from environment import run
from modes import marks

WORKLOADS = (
    "gemm", "mlp-train", "lenet-train", "catdog-cnn-train", "transformer-encoder", "transformer-train",
    "resnet18-train",
)  # fmt: skip
#: The check has this much room on both sides: a faithful float32 step errs by less than a third of what is allowed,
#: TF32 by more than ten times as much.
FAITHFUL, PLANTED = 1 / 3, 10
pytestmark = [*marks("torch2"), pytest.mark.parametrize("workload", WORKLOADS)]


def found(workload):
    return run("torch2", "planted_precision", "check", *WORKLOADS)[workload]


def test_full_float32_is_right(workload):
    full = found(workload)["float32"]
    assert full["status"] == "ok"
    assert full["products"] > 0
    assert full["exceeds"] < FAITHFUL


@pytest.mark.parametrize("precision", ["tf32", "bfloat16"])
def test_shorter_factors_are_a_mismatch(workload, precision):
    planted = found(workload)[precision]
    assert planted["status"] == "mismatch"
    assert planted["exceeds"] > PLANTED
