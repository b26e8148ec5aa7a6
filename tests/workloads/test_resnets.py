"""Tests the residual networks and their batch normalisation against published counts and naive formulas."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import central_slopes, gradients_of_form

from bench.registry import BUILT_IN
from bench.workloads import batch_norm, resnet

IMAGENET = {"side": 224, "stem": 7, "width": 64, "batch": 1, "classes": 1000}
WORKLOADS = ("resnet18", "resnet50", "resnet18-train", "resnet50-train")


# torchvision's documentation of its weights: parameters, and billions of products (for 50 layers those of version 1.5).
@pytest.mark.parametrize(("depth", "count", "products"), [(18, 11_689_512, 1.814e9), (50, 25_557_032, 4.089e9)])
def test_the_networks_have_the_published_parameters_and_products(depth, count, products):
    size = {**IMAGENET, "depth": depth}
    assert resnet.parameter_count(size) == count
    assert sum(resnet.forward_flops(size)) / 2 == pytest.approx(products, rel=1e-3)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_is_drawn_is_what_is_counted(workload):
    specification = BUILT_IN.specification(workload)
    for label in ("check", "tiny"):
        size = specification.SIZES[label]
        drawn = specification.parameters(size, np.random.RandomState(0))
        trained = [value.size for name, value in drawn.items() if not name.endswith((".mean", ".variance"))]
        assert sum(trained) == resnet.parameter_count(size)
        assert sum(v.size for v in resnet.initial_state(size).values()) == resnet.statistics_count(size)
        assert specification.items(size) == size["batch"]


@pytest.mark.parametrize("network", ["resnet18", "resnet50"])
def test_a_step_needs_no_gradient_of_the_images(network):
    train = BUILT_IN.specification(network + "-train")
    size = {**train.SIZES["tiny"], "stem": 3}
    first = 2 * size["batch"] * size["side"] ** 2 * 9 * 3 * size["width"]
    assert train.useful_flops(size) == 3 * BUILT_IN.specification(network).useful_flops(size) - first


@pytest.mark.parametrize("size", [{**IMAGENET, "depth": 18}, {**IMAGENET, "side": 32, "stem": 3, "depth": 50}])
def test_the_side_halves_from_stage_to_stage(size):
    last = resnet.convolutions(size)[-1][1]
    assert last == {224: 7, 32: 4}[size["side"]]


def test_the_first_convolution_of_a_later_bottleneck_keeps_the_side():
    """That is version 1.5: the convolution of 3 by 3 has the stride."""
    branch, shortcut = resnet.blocks({**IMAGENET, "depth": 50})[3]
    assert [layer.stride for layer in branch] == [1, 2, 1]
    assert shortcut.stride == 2


def test_batch_normalisation_gives_every_channel_its_mean_and_deviation():
    images = np.random.RandomState(0).standard_normal((5, 4, 3, 2)) * 3 + 7
    scale, shift = np.array([2.0, 0.5]), np.array([1.0, -1.0])
    normal, mean, variance = batch_norm.train(images, scale, shift, np.zeros(2), np.ones(2))
    np.testing.assert_allclose(normal.mean(axis=(0, 1, 2)), shift, atol=1e-12)
    np.testing.assert_allclose(normal.std(axis=(0, 1, 2)), scale, rtol=1e-5)
    np.testing.assert_allclose(mean, 0.1 * images.mean(axis=(0, 1, 2)))
    np.testing.assert_allclose(variance, 0.9 + 0.1 * images.var(axis=(0, 1, 2), ddof=1))


def test_gradients_of_batch_normalisation_agree_with_finite_differences():
    random = np.random.RandomState(1)
    arrays = [random.standard_normal(shape) for shape in ((2, 3, 2, 2), (2,), (2,))]

    def normal(*arrays):
        return batch_norm.train(*arrays, np.zeros(2), np.ones(2))[0]

    form = random.standard_normal(arrays[0].shape)
    for array, found in zip(arrays, gradients_of_form(normal, form, arrays), strict=True):
        expected = central_slopes(lambda: float(np.sum(form * normal(*arrays))), array, 1e-6)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("workload", ["resnet18", "resnet50"])
def test_inference_uses_the_running_statistics(workload):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    parameters = specification.parameters(size, np.random.RandomState(2))
    images = specification.batch(size, np.random.RandomState(3))
    whole = specification.reference(size, parameters, images)["logits"]
    for name, value in parameters.items():
        neutral = np.zeros_like(value) if name.endswith((".shift", ".mean", ".bias")) else np.ones_like(value)
        other = specification.reference(size, {**parameters, name: neutral}, images)["logits"]
        assert np.abs(other - whole).max() > 1e-3, name
    alone = specification.reference(size, parameters, (images[0][:1],))["logits"]
    np.testing.assert_allclose(alone, whole[:1], rtol=1e-4)
