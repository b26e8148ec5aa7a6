"""Tests that a cell which computes in TF32 or bfloat16, but says float32, ends as a mismatch, and what TF32 allows."""

from __future__ import annotations

import pytest
from environment import run
from modes import marks

from bench.registry import BUILT_IN

WORKLOADS = (
    "gemm", "mlp-train", "lenet-train", "catdog-cnn-train", "transformer-encoder", "transformer-train",
    "resnet18-train",
)  # fmt: skip
#: The check has this much room on both sides: a faithful float32 step errs by less than a third of what is allowed,
#: TF32 by more than ten times as much.
FAITHFUL, PLANTED = 1 / 3, 10
#: What can be measured in TF32, and the largest error as a share of what is allowed there. It was 0.25 with factors
#: that are rounded, 0.66 with factors that are cut, as tensor cores may read them.
WITH_TF32 = tuple(name for name in BUILT_IN.workloads if "tf32" in BUILT_IN.specification(name).PRECISIONS)
IN_TF32 = 0.85
#: Each output is one product, or one product of a few: no sum of many roundings covers shorter factors there.
SINGLE_PRODUCTS = ("gemm", "batched-gemm", "attention-full", "attention-causal")
pytestmark = marks("torch2")
workloads = pytest.mark.parametrize("workload", WORKLOADS)


def found(workload):
    return run("torch2", "planted_precision", "check", "float32", *WORKLOADS)[workload]


def found_in_tf32(workload):
    return run("torch2", "planted_precision", "check", "tf32", *WITH_TF32)[workload]


@pytest.mark.parametrize("workload", WITH_TF32)
def test_tf32_is_right_where_it_was_asked_for(workload):
    for precision in ("float32", "tf32", "tf32 cut"):
        given = found_in_tf32(workload)[precision]
        assert given["status"] == "ok"
        assert given["exceeds"] < IN_TF32


@pytest.mark.parametrize("workload", SINGLE_PRODUCTS)
def test_factors_of_bfloat16_are_no_tf32(workload):
    assert found_in_tf32(workload)["bfloat16"]["status"] == "mismatch"


@workloads
def test_full_float32_is_right(workload):
    full = found(workload)["float32"]
    assert full["status"] == "ok"
    assert full["products"] > 0
    assert full["exceeds"] < FAITHFUL


@workloads
@pytest.mark.parametrize("precision", ["tf32", "bfloat16"])
def test_shorter_factors_are_a_mismatch(workload, precision):
    planted = found(workload)[precision]
    assert planted["status"] == "mismatch"
    assert planted["exceeds"] > PLANTED
