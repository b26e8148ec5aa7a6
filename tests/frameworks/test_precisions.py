"""Tests which type the arrays of a precision have, and where TF32 is refused."""

import pytest

from bench.cell import MIXED, PRECISIONS, Cell
from bench.frameworks import precisions
from bench.program import Unsupported
from bench.registry import BUILT_IN
from bench.worker import in_force
from bench.worker.checking import tolerance
from bench.worker.limits import peaks


@pytest.fixture(autouse=True)
def _not_overridden(monkeypatch):
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)


def test_every_precision_has_a_roundoff_and_an_item_size():
    assert set(PRECISIONS) <= set(tolerance.ROUNDOFF)
    assert set(PRECISIONS) <= set(peaks.ITEMSIZE)


def test_arrays_of_tf32_are_float32():
    assert precisions.array_type("tf32", "gpu") == "float32"
    assert peaks.ITEMSIZE["tf32"] == peaks.ITEMSIZE["float32"]
    assert [precisions.array_type(name, "cpu") for name in ("float16", "float64")] == ["float16", "float64"]


def test_a_processor_has_no_tf32():
    with pytest.raises(Unsupported, match="TF32 is a format of NVIDIA GPUs"):
        precisions.array_type("tf32", "cpu")


def test_the_variable_that_turns_tf32_off_is_respected(monkeypatch):
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    with pytest.raises(Unsupported, match="NVIDIA_TF32_OVERRIDE=0"):
        precisions.array_type("tf32", "gpu")
    assert precisions.array_type("float32", "gpu") == "float32"


def test_gpus_before_the_a100_and_those_of_others_have_no_tf32():
    for capability in ((8, 0), (9, 0), (12, 0)):
        precisions.verify_gpu("tf32", capability)
    with pytest.raises(Unsupported, match=r"8\.0 or later, and this one has 7\.5"):
        precisions.verify_gpu("tf32", (7, 5))
    with pytest.raises(Unsupported, match="this GPU is none"):
        precisions.verify_gpu("tf32", None)


def test_full_float32_is_asked_for_where_all_of_a_cell_is_wide():
    left = {name: precisions.leaves_tf32(name, "gpu") for name in PRECISIONS}
    assert left == {
        "float32": False, "tf32": True, MIXED: True, "bfloat16": True, "float16": True, "float64": False
    }  # fmt: skip
    assert not any(precisions.leaves_tf32(name, "cpu") for name in PRECISIONS)


@pytest.mark.parametrize("precision", ["bfloat16", MIXED])
def test_nvidias_gpus_before_the_a100_have_no_bfloat16(precision):
    for capability in ((8, 0), (9, 0), None):
        precisions.verify_gpu(precision, capability)
    with pytest.raises(Unsupported, match=r"bfloat16 needs an NVIDIA GPU of compute capability 8\.0 .* has 7\.5"):
        precisions.verify_gpu(precision, (7, 5))
    for other in ("float32", "float16", "float64"):
        precisions.verify_gpu(other, (7, 5))


@pytest.mark.parametrize("workload", BUILT_IN.workloads)
def test_what_has_bfloat16_has_float16_too_and_what_trains_mixes_instead(workload):
    found = set(BUILT_IN.specification(workload).PRECISIONS)
    assert ("float16" in found) == ("bfloat16" in found)
    if BUILT_IN.specification(workload).TRAINING:
        assert found & set(tolerance.SHORT) <= {MIXED}
    else:
        assert MIXED not in found


def test_arrays_of_mixed_precision_are_float32_in_the_adapters_that_know_it():
    assert precisions.array_type(MIXED, "cpu", mixes=True) == "float32"
    with pytest.raises(Unsupported, match="mixed precision is written for PyTorch, TensorFlow 2, JAX"):
        precisions.array_type(MIXED, "cpu")


@pytest.mark.parametrize(("precision", "matmul", "right"), [
    ("tf32", "tf32", True), ("tf32", "highest", False), ("tf32", None, False), ("float32", "highest", True),
])  # fmt: skip
def test_a_cell_in_tf32_fails_where_products_are_not(precision, matmul, right):
    cell = Cell("mine", "torch", "eager", "gemm", "check", precision, "gpu", 1)
    settings = {"threads": 1, "float32 matmul": matmul}
    if right:
        in_force.verify(cell, settings)
    else:
        with pytest.raises(RuntimeError, match=f"TF32 was asked for, and products are in {matmul}"):
            in_force.verify(cell, settings)


def test_a_cell_fails_where_a_library_was_not_preloaded(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/absent/liblost.so")
    cell = Cell("mine", "torch", "eager", "gemm", "check", "float32", "cpu", 1)
    with pytest.raises(RuntimeError, match=r"LD_PRELOAD names /absent/liblost\.so, which was not loaded"):
        in_force.verify(cell, {"threads": 1})


@pytest.mark.parametrize(("matmul", "right"), [
    ("bf16", True), ("bf16 and highest", True), ("highest", False), ("tf32", False), (None, True),
])  # fmt: skip
def test_a_cell_in_mixed_precision_fails_where_no_products_are_in_bfloat16(matmul, right):
    cell = Cell("mine", "torch", "eager", "mlp-train", "check", MIXED, "gpu", 1)
    settings = {"threads": 1, **({"float32 matmul": matmul} if matmul else {})}
    if right:
        in_force.verify(cell, settings)
    else:
        with pytest.raises(RuntimeError, match=f"products in bfloat16 were asked for, and are in {matmul}"):
            in_force.verify(cell, settings)
