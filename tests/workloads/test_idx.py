"""Tests that IDX files are read exactly, or refused with the file's name and the fault."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bench.workloads import idx

values = arrays.arrays(np.uint8, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))


def encoded(array: np.ndarray) -> bytes:
    """Write an array as an IDX file of unsigned bytes."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


@given(values)
def test_a_written_array_is_read_back(array: np.ndarray) -> None:
    found = idx.parse_idx(encoded(array), "here")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, array)


@given(values, st.data())
def test_a_file_cut_anywhere_is_refused(array: np.ndarray, data: st.DataObject) -> None:
    content = encoded(array)
    kept = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(ValueError, match=r"^here: "):
        idx.parse_idx(content[:kept], "here")


@given(values, st.binary(min_size=1, max_size=8))
def test_a_file_with_more_than_its_sizes_say_is_refused(array: np.ndarray, more: bytes) -> None:
    with pytest.raises(ValueError, match="values, but the sizes"):
        idx.parse_idx(encoded(array) + more, "here")


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    found, refusal = None, ""
    try:
        found = idx.parse_idx(content, "here")
    except ValueError as error:
        refusal = str(error)
    assert refusal.startswith("here: ") if found is None else encoded(found) == content


def test_sizes_beyond_all_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="0 values, but the sizes"):
        idx.parse_idx(bytes([0, 0, 8, 4]) + b"\xff" * 16, "here")


def test_values_of_another_type_are_refused() -> None:
    with pytest.raises(ValueError, match="type 0x0d, expected 0x08"):
        idx.parse_idx(bytes([0, 0, 13, 1]) + b"\0\0\0\1" + b"\0\0\0\0", "here")


def test_a_damaged_gzip_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    content = gzip.compress(encoded(np.arange(200, dtype=np.uint8)))
    for damaged in (content[:-9], content[:12], content[:30] + bytes([content[30] ^ 255]) + content[31:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"images\.gz: damaged gzip file"):
            idx.read_idx(str(path))


@pytest.mark.parametrize(
    ("pictures", "labels", "message"),
    [
        ((3, 28, 27), [0, 1, 2], r"expected \(images, 28, 28\)"),
        ((0, 28, 28), [], r"expected \(images, 28, 28\)"),
        ((3, 28, 28), [0, 1], "for 3 images"),
        ((3, 28, 28), [0, 1, 10], "label 10, expected 0 to 9"),
    ],
)
def test_files_that_are_not_mnist_are_refused(tmp_path: Path, pictures: tuple, labels: list, message: str) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(encoded(np.zeros(pictures, np.uint8)))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(encoded(np.array(labels, np.uint8)))
    with pytest.raises(ValueError, match=message):
        idx.read_mnist(str(tmp_path))
