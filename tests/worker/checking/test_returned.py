"""Tests that a specification which returns something else is refused with its file and what it must return."""

import numpy as np
import pytest

from bench.registry import BUILT_IN
from bench.worker.checking import parity


@pytest.fixture
def gemm():
    return BUILT_IN.specification("gemm")


def reference(gemm, tmp_path):
    parity.write_reference(str(tmp_path / "gemm.npz"), gemm, gemm.SIZES["check"], 1)


@pytest.mark.parametrize(
    ("function", "value", "reason"),
    [
        ("parameters", [], "parameters returned a value of type list; it returns {name: float32 array}"),
        ("batch", np.ones((4, 4), np.float32), "batch returned a value of type ndarray; it returns a tuple of arrays"),
        ("batch", None, "batch returned None; it returns a tuple of arrays"),
        ("reference", np.ones(4), "reference returned a value of type ndarray; it returns {name: array}"),
        ("reference", {"product": np.ones(4, np.float32)}, "product[0] is float32 where all arguments are float64;"),
        ("reference", {"product": np.ones(4) + 1j}, "product[0] is complex128; outputs are compared as real numbers."),
    ],
)
def test_what_a_specification_must_not_return_is_refused_with_its_file(
    gemm, tmp_path, monkeypatch, function, value, reason
):
    monkeypatch.setattr(gemm, function, lambda *arguments: value)
    with pytest.raises(TypeError) as caught:
        reference(gemm, tmp_path)
    assert str(caught.value).startswith("workloads/gemm/__init__.py: " + reason)


@pytest.mark.parametrize("value", [np.ones(4), np.ones(4, np.int32)])
def test_outputs_in_float64_and_integers_are_taken(gemm, tmp_path, monkeypatch, value):
    monkeypatch.setattr(gemm, "reference", lambda *arguments: {"product": value})
    reference(gemm, tmp_path)
    assert (tmp_path / "gemm.npz").exists()
