"""Tests that what was drawn is stored with a reference as it is, and drawn anew where it is not stored."""

import numpy as np
import pytest

from bench.registry import BUILT_IN
from bench.worker.checking import inputs, parity

NAMES = ["mlp-train", "gemm", "embedding-bag", "lenet-train", "optimizer-step-adam", "lengths-exact", "random-normal"]


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_what_was_drawn(tmp_path, name):
    specification, path = BUILT_IN.specification(name), str(tmp_path / "reference.npz")
    size = specification.SIZES["check"]
    parity.write_reference(path, specification, size, 7)
    parameters, batches, description = inputs.draw(specification, size, 7)
    read = inputs.read(path, size, 7)
    assert list(read.parameters) == list(parameters)
    assert all(same(read.parameters[each], parameters[each]) for each in parameters)
    assert len(read.batches) == len(batches)
    for one, other in zip(read.batches, batches):
        assert isinstance(one, tuple)
        assert len(one) == len(other)
        assert all(same(*pair) for pair in zip(one, other))
    assert read.description == description
    assert read.digest == parity.digest(parameters, batches)


def test_another_seed_is_drawn_anew_and_is_no_match(tmp_path):
    specification, path = BUILT_IN.specification("mlp-train"), str(tmp_path / "reference.npz")
    size = specification.SIZES["check"]
    parity.write_reference(path, specification, size, 1)
    assert inputs.read(path, size, 2) is None
    assert inputs.read(path, specification.SIZES["tiny"], 1) is None
    other = inputs.drawn(specification, size, 2, None, path)
    assert other.digest != inputs.drawn(specification, size, 1, None, path).digest
    with pytest.raises(parity.Mismatch, match="the inputs differ"):
        parity.compare({}, path, other.digest, "float32", 16.0)


def test_a_large_draw_is_not_stored(tmp_path, monkeypatch):
    specification, path = BUILT_IN.specification("gemm"), str(tmp_path / "reference.npz")
    size = specification.SIZES["check"]
    monkeypatch.setattr(inputs, "MOST_BYTES", 10)
    parity.write_reference(path, specification, size, 1)
    assert inputs.read(path, size, 1) is None
    drawn = inputs.drawn(specification, size, 1, None, path)
    assert drawn.digest == parity.digest(*inputs.draw(specification, size, 1)[:2])
