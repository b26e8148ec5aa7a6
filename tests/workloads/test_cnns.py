"""Tests the specifications of the convolutional networks: work, data, and that they learn."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finite_differences import drawn

from bench.differentiation import loss_and_gradients
from bench.frameworks.numpy.adapter import Adapter
from bench.registry import BUILT_IN
from bench.workloads import cnn, idx, images, layers

LENET, CATDOG = BUILT_IN.specification("lenet-train"), BUILT_IN.specification("catdog-cnn-train")
BOTH = pytest.mark.parametrize("specification", [LENET, CATDOG], ids=["lenet", "catdog"])


@BOTH
def test_the_same_seed_draws_the_same_and_another_seed_does_not(specification: Any) -> None:
    size = specification.SIZES["check"]
    first, again, other = (specification.batch(size, np.random.RandomState(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    assert [array.dtype for array in first] == [np.float32, np.int32]


def test_lenet_has_the_parameters_and_products_of_lenet_5() -> None:
    size = {"batch": 2}
    assert cnn.elements(LENET.SHAPES) == 156 + 2416 + 48120 + 10164 + 850
    # Multiplications and additions: 28² · 25 · 6, 10² · 150 · 16, 400 · 120, 120 · 84, 84 · 10, each twice.
    products = [2 * 2 * value for value in (117600, 240000, 48000, 10080, 840)]
    assert LENET.useful_flops(size) == 3 * sum(products) - products[0]
    assert LENET.compulsory_bytes(size, 4) == 4 * (2 * 61706 + 2 * 1024)
    assert LENET.items(size) == 2


def test_the_network_of_the_study_has_the_products_counted_by_hand() -> None:
    size = {"batch": 1, "filters": 32, "dense": 512}
    assert CATDOG.shapes(size)["dense1_weight"] == (2 * 2 * 128, 512)
    products = [2 * value for value in (46**2 * 25 * 32, 19**2 * 800 * 64, 5**2 * 1600 * 128, 512 * 512, 512 * 2)]
    assert CATDOG.useful_flops(size) == 3 * sum(products) - products[0]
    count = 25 * 32 + 32 + 800 * 64 + 64 + 1600 * 128 + 128 + 512 * 512 + 512 + 512 * 2 + 2
    assert CATDOG.compulsory_bytes(size, 4) == 4 * (6 * count + 2500)
    assert CATDOG.SIZES["medium"] == {"batch": 100, "filters": 32, "dense": 512}


def test_lenet_learns_the_digits() -> None:
    adapter = Adapter("eager", "cpu", "float32", 1)
    random = np.random.RandomState(0)
    size = {"batch": 16}
    parameters = LENET.parameters(size, random)
    program = BUILT_IN.implementation("lenet-train", "numpy")(
        size, parameters, LENET.batch(size, random), adapter.transform
    )
    losses = [float(program.step(*LENET.batch(size, random))["loss"]) for _ in range(80)]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:5])


def test_lenet_check_size_lowers_the_loss_of_its_batch() -> None:
    adapter = Adapter("eager", "cpu", "float32", 1)
    random = np.random.RandomState(0)
    size = LENET.SIZES["check"]
    parameters, batch = LENET.parameters(size, random), LENET.batch(size, random)
    program = BUILT_IN.implementation("lenet-train", "numpy")(size, parameters, batch, adapter.transform)
    losses = [float(program.step(*batch)["loss"]) for _ in range(10)]
    assert losses[-1] < 0.5 * losses[0]
    expected, _ = LENET.loss(size, program.parameters(), {}, batch)
    assert layers.cross_entropy(program.evaluate(batch[0]), batch[1]) == pytest.approx(expected, rel=1e-5)


def test_catdog_gradients_lower_the_loss_of_its_batch() -> None:
    size = CATDOG.SIZES["check"]
    parameters, state, batch = drawn(CATDOG, size)
    first, _, gradients = loss_and_gradients(CATDOG.loss, size, parameters, state, batch)
    moved = {name: value - 1e-3 * gradients[name] for name, value in parameters.items()}
    assert CATDOG.loss(size, moved, state, batch)[0] < first


def test_the_shipped_digits_are_those_of_the_uci_repository() -> None:
    content = Path(LENET.DIGITS).read_bytes()
    licence = Path(LENET.DIGITS).with_name("DATA-LICENSE.txt").read_text(encoding="utf-8")
    assert hashlib.sha256(content).hexdigest() in licence
    assert "CC BY 4.0" in licence
    assert "10.24432/C50P49" in licence
    (pictures, labels), description = LENET.source()
    assert description == "UCI digits, 1,797 images"
    assert pictures.shape == (1797, 8, 8)
    assert (pictures.min(), pictures.max()) == (0, 16)
    # The class counts of optdigits.tes, from the data set's own description.
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_a_digit_s_pixels_are_repeated_over_those_they_count() -> None:
    pictures = np.zeros((1, 8, 8), np.uint8)
    pictures[0, 1, 2] = 16
    prepared = LENET.prepared(pictures)[0, :, :, 0]
    expected = np.full((32, 32), LENET.PAPER, np.float32)
    expected[4:8, 8:12] = LENET.INK
    np.testing.assert_allclose(prepared, expected, rtol=1e-6)


def test_a_batch_repeats_no_image_where_the_data_are_enough() -> None:
    pictures = np.arange(5 * 64, dtype=np.uint8).reshape(5, 8, 8)
    source = pictures, np.arange(5, dtype=np.uint8)
    _, labels = LENET.batch({"batch": 5}, np.random.RandomState(0), source)
    assert sorted(labels) == [0, 1, 2, 3, 4]
    _, labels = LENET.batch({"batch": 12}, np.random.RandomState(0), source)
    assert np.bincount(labels).min() == 2


def write_mnist(folder: Path, count: int = 6, suffix: str = "") -> np.ndarray:
    """Write a training set in MNIST's format."""
    pictures = np.random.RandomState(0).randint(0, 256, (count, 28, 28)).astype(np.uint8)
    labels = (np.arange(count) % 10).astype(np.uint8)
    for name, array in (("train-images-idx3-ubyte", pictures), ("train-labels-idx1-ubyte", labels)):
        header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        content = header + array.tobytes()
        (folder / (name + suffix)).write_bytes(gzip.compress(content) if suffix else content)
    return pictures


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_lenet_reads_mnist_from_a_folder(tmp_path: Path, suffix: str) -> None:
    pictures = write_mnist(tmp_path, suffix=suffix)
    source, description = LENET.source(str(tmp_path))
    assert description == f"MNIST from {tmp_path}, 6 images"
    batch, labels = LENET.batch({"batch": 6}, np.random.RandomState(0), source)
    assert batch.shape == (6, 32, 32, 1)
    ink = (batch[list(labels).index(4), 2:30, 2:30, 0] - LENET.PAPER) / (LENET.INK - LENET.PAPER)
    np.testing.assert_allclose(ink * 255, pictures[4], atol=1e-3)
    np.testing.assert_allclose(batch[:, :2], LENET.PAPER, rtol=1e-6)


def test_a_folder_without_mnist_is_an_error_with_the_names_it_needs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no file train-images-idx3-ubyte or train-images-idx3-ubyte\.gz"):
        idx.read_mnist(str(tmp_path))


def test_catdog_reads_an_archive_and_reports_unreadable_images(tmp_path: Path) -> None:
    path = tmp_path / "animals.npz"
    pictures = np.random.RandomState(0).randint(0, 256, (4, 50, 50)).astype(np.uint8)
    archive = images.Archive(pictures, np.array([0, 0, 1, 1], np.uint8), np.array(["Cat/666.jpg: truncated"]))
    np.savez(path, **archive._asdict())
    source, description = CATDOG.source(str(path))
    assert description == f"cats and dogs from {path.name}: 4 images, 1 left out as unreadable"
    batch, labels = CATDOG.batch({"batch": 4}, np.random.RandomState(0), source)
    assert sorted(labels) == [0, 0, 1, 1]
    np.testing.assert_allclose(
        np.sort(batch.sum(axis=(1, 2, 3))), np.sort(pictures.sum(axis=(1, 2)) / 255.0), rtol=1e-5
    )


def test_catdog_without_a_path_reports_that_its_images_are_synthetic() -> None:
    source, description = CATDOG.source()
    assert source is None
    assert "synthetic" in description


@BOTH
def test_a_convolution_may_need_fewer_products_than_counted(specification):
    """Winograd's F(4×4, 5×5): a tile of 8 by 8 products for 4 by 4 outputs of 5 by 5 each."""
    assert specification.FLOPS_DIVISOR == (4 * cnn.KERNEL) ** 2 / (4 + cnn.KERNEL - 1) ** 2
