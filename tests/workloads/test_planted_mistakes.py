"""Tests that mistakes which implementations make are a mismatch at the check size, in every newer training workload."""

from __future__ import annotations

import numpy as np
import pytest
from planted import Faithful, optimizer_mistakes, worst, wrong_gradient

from bench.registry import BUILT_IN
from bench.workloads import attention, batch_norm, convolution, resnet

WORKLOADS = (
    "resnet18-train",
    "resnet50-train",
    "gpt-train",
    "lstm-lm-train",
    "lstm-cell-lm-train",
    "lenet-input",
    "optimizer-step-sgd",
    "optimizer-step-adam",
    "optimizer-step-adamw",
)
lstm = BUILT_IN.specification("lstm-lm-train")
#: A faithful float32 step errs by less than this share of what is allowed, a mistake by more than so many times that.
FAITHFUL, PLANTED = 0.5, 3
CASES = [
    (name, mistake, options)
    for name in WORKLOADS
    for mistake, options in optimizer_mistakes(BUILT_IN.specification(name).OPTIMIZER).items()
]
EACH = pytest.mark.parametrize("workload", WORKLOADS)


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    return tmp_path_factory.mktemp("references")


def faithful(workload, kind=Faithful):
    specification = BUILT_IN.specification(workload)
    return kind(specification, specification.SIZES["check"])


@EACH
def test_a_faithful_step_passes(workload, references):
    assert worst(faithful(workload), references) < FAITHFUL


@EACH
def test_every_gradient_that_is_some_percent_wrong_is_found(workload, references):
    names = faithful(workload).drawn
    for name in names:
        kind = type("Wrong", (Faithful,), {"changed": wrong_gradient(name, 0.02)})
        assert worst(faithful(workload, kind), references) > 1, name


@pytest.mark.parametrize(("workload", "mistake", "options"), CASES, ids=[f"{name}: {what}" for name, what, _ in CASES])
def test_another_convention_of_the_optimizer_is_found(workload, mistake, options, references):
    trained = faithful(workload)
    trained.optimizer = options
    assert worst(trained, references) > PLANTED


NETWORKS = pytest.mark.parametrize("workload", ["resnet18-train", "resnet50-train"])


@NETWORKS
@pytest.mark.parametrize(("name", "value"), [("EPSILON", 1e-3), ("MOMENTUM", 0.01), ("MOMENTUM", 0.9)])
def test_the_batch_normalisation_of_another_framework_is_found(workload, name, value, references):
    class Other(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(batch_norm, name, value)
                return super().loss(*arguments)

    assert worst(faithful(workload, Other), references) > PLANTED


@NETWORKS
def test_a_biased_running_variance_is_found(workload, references):
    class Biased(Faithful):
        def loss(self, size, parameters, state, batch):
            loss, new = super().loss(size, parameters, state, batch)
            for layer, side in resnet.convolutions(size):
                count = size["batch"] * side**2
                name = layer.name + ".variance"
                moved = new[name] - (1 - batch_norm.MOMENTUM) * state[name]
                new[name] = (new[name] - moved * np.float32(1 / count)) if count > 1 else new[name]
            return loss, new

    assert worst(faithful(workload, Biased), references) > PLANTED


@NETWORKS
def test_padding_that_is_not_symmetric_is_found(workload, references):
    """Padding "SAME" of TensorFlow and JAX adds at the bottom and the right first, where the stride is 2."""

    def conv2d(images, weight, bias=None, stride=1, padding=0):
        side = images.shape[1]
        missing = max((-(-side // stride) - 1) * stride + weight.shape[0] - side, 0)
        edges = (missing // 2, missing - missing // 2)
        return right(np.pad(images, ((0, 0), edges, edges, (0, 0))), weight, bias, stride)

    right = convolution.conv2d

    class Same(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(convolution, "conv2d", conv2d)
                return super().loss(*arguments)

    assert worst(faithful(workload, Same), references) > PLANTED


@NETWORKS
def test_a_kernel_in_another_layout_is_found(workload, references):
    class Transposed(Faithful):
        def loss(self, size, parameters, state, batch):
            turned = {k: v.transpose(1, 0, 2, 3) if v.ndim == 4 else v for k, v in parameters.items()}
            return super().loss(size, turned, state, batch)

    assert worst(faithful(workload, Transposed), references) > PLANTED


def test_a_bottleneck_with_the_stride_of_version_1_is_found(references):
    right = resnet.blocks

    def version_1(size):
        found = []
        for branch, shortcut in right(size):
            strides = [branch[1].stride, 1, 1]
            found.append(([one._replace(stride=each) for one, each in zip(branch, strides, strict=True)], shortcut))
        return found

    class First(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(resnet, "blocks", version_1)
                return super().loss(*arguments)

    assert worst(faithful("resnet50-train", First), references) > PLANTED


@pytest.mark.parametrize(("name", "value"), [("EPSILON", 1e-6), ("erf", lambda x: np.tanh(1.1283 * x + 0.1008 * x**3))])
def test_the_layer_normalisation_and_gelu_of_other_models_are_found(name, value, references):
    """Epsilon as in BERT in TensorFlow, and nearly the approximation of GPT-2."""

    class Other(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(attention, name, value)
                return super().loss(*arguments)

    assert worst(faithful("gpt-train", Other), references) > PLANTED


def test_a_language_model_without_its_mask_is_found(references):
    class Seeing(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(np, "tril", lambda ones: ones)
                return super().loss(*arguments)

    assert worst(faithful("gpt-train", Seeing), references) > PLANTED


def lstm_with(order=(0, 1, 2, 3), forget_bias=0.0):
    """Return an LSTM whose gates have another order, or a bias."""

    def recur(inputs, weight, recurrent):
        width = inputs.shape[-1]
        sigmoid = lstm.sigmoid
        cell = hidden = np.zeros((len(inputs), width), inputs.dtype)
        states = []
        for step in range(inputs.shape[1]):
            gates = inputs[:, step] @ weight + hidden @ recurrent
            parts = [gates[:, part * width : (part + 1) * width] for part in order]
            cell = sigmoid(parts[1] + forget_bias) * cell + sigmoid(parts[0]) * np.tanh(parts[2])
            hidden = sigmoid(parts[3]) * np.tanh(cell)
            states.append(hidden)
        return np.stack(states, axis=1)

    return recur


@pytest.mark.parametrize(
    ("options", "found"),
    [({}, False), ({"order": (0, 1, 3, 2)}, True), ({"order": (0, 2, 1, 3)}, True), ({"forget_bias": 1.0}, True)],
    ids=["same", "input, forget, output, cell", "input, cell, forget, output", "a forget gate that begins open"],
)
@pytest.mark.parametrize("workload", ["lstm-lm-train", "lstm-cell-lm-train"])
def test_the_gates_of_another_framework_are_found(workload, options, found, references):
    class Other(Faithful):
        def loss(self, *arguments):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lstm, "recur", lstm_with(**options))
                return super().loss(*arguments)

    share = worst(faithful(workload, Other), references)
    assert share > PLANTED if found else share < FAITHFUL
