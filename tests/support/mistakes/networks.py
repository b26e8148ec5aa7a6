"""Plants what layers of the same name do in other frameworks and models."""

from __future__ import annotations

import numpy as np
from planted_mistake import Mistake

from bench.differentiation import plain
from bench.registry import BUILT_IN
from bench.workloads import attention, batch_norm, convolution, resnet

lstm = BUILT_IN.specification("lstm-lm-train")


def gates(order=(0, 1, 2, 3), forget_bias=0.0):
    """Compute an LSTM whose gates have another order than input, forget, cell, output, or a bias."""

    def recur(inputs, weight, recurrent):
        width, sigmoid = inputs.shape[-1], lstm.sigmoid
        cell = hidden = np.zeros((len(inputs), width), inputs.dtype)
        states = []
        for step in range(inputs.shape[1]):
            computed = inputs[:, step] @ weight + hidden @ recurrent
            parts = [computed[:, part * width : (part + 1) * width] for part in order]
            cell = sigmoid(parts[1] + forget_bias) * cell + sigmoid(parts[0]) * np.tanh(parts[2])
            hidden = sigmoid(parts[3]) * np.tanh(cell)
            states.append(hidden)
        return np.stack(states, axis=1)

    return Mistake(replaced=((lstm, "recur", recur),))


def padded_as_same():
    """Pad at the bottom and the right first where the stride is 2, as "SAME" of TensorFlow and JAX does."""
    right = convolution.conv2d

    def conv2d(images, weight, bias=None, stride=1, padding=0):
        side = images.shape[1]
        missing = max((-(-side // stride) - 1) * stride + weight.shape[0] - side, 0)
        edges = (missing // 2, missing - missing // 2)
        return right(np.pad(images, ((0, 0), edges, edges, (0, 0))), weight, bias, stride)

    return Mistake(replaced=((convolution, "conv2d", conv2d),))


def version_1():
    """Let the first convolution of a bottleneck have the stride."""
    right = resnet.blocks

    def blocks(size):
        found = []
        for branch, shortcut in right(size):
            strides = [branch[1].stride, 1, 1]
            found.append(([one._replace(stride=each) for one, each in zip(branch, strides, strict=True)], shortcut))
        return found

    return Mistake(replaced=((resnet, "blocks", blocks),))


def other_statistics(biased=False, kept=False, used=None):
    """Keep a biased variance or the old statistics; normalise by what ``used`` makes of all statistics."""
    right = batch_norm.train

    def train(images, scale, shift, running_mean, running_variance):
        count, axes = images.size // images.shape[-1], tuple(range(images.ndim - 1))
        normal, mean, variance = right(images, scale, shift, running_mean, running_variance)
        if used:
            own = images.mean(axis=axes)
            statistics = used(own, np.square(images - own).mean(axis=axes), count, running_mean, running_variance)
            normal = batch_norm.normalise(images, *statistics, scale, shift)
        if biased:
            old = (1 - batch_norm.MOMENTUM) * running_variance
            variance = old + (variance - old) * ((count - 1) / count)
        return (normal, running_mean, running_variance) if kept else (normal, mean, variance)

    return Mistake(replaced=((batch_norm, "train", train),))


def unbiased_norm(inputs, scale, shift):
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    share = (centred * centred).sum(axis=-1, keepdims=True) / (inputs.shape[-1] - 1)
    return centred / np.sqrt(share + attention.EPSILON) * scale + shift


def unmasked():
    right = attention.attention
    return Mistake(replaced=((attention, "attention", lambda *arrays, causal: right(*arrays, causal=False)),))


def unscaled():
    right = attention.attention

    def attend(queries, *others, causal):
        return right(queries * queries.shape[-1] ** 0.5, *others, causal=causal)

    return Mistake(replaced=((attention, "attention", attend),))


def unbiased(mean, variance, count, *running):
    return mean, variance * (count / (count - 1))


def running(mean, variance, count, *kept):
    return kept


def without_gradient(mean, variance, *others):
    return plain(mean), plain(variance)


def constant(owner, name, *values):
    return {str(value): Mistake(replaced=((owner, name, value),)) for value in values}


def same(case):
    """Return what computes the same in another order."""
    return {"gates one by one": gates()} if case.network == "recurrent" else {}


def rows(case):
    yield from normalisation_rows(case)
    unpadded = "" if case.network == "residual" else "no padding"
    yield "padding that is not symmetric", unpadded or padded_as_same()
    straight = "" if "stage1.block1.conv3.weight" in case.drawn else "no bottleneck"
    yield "bottleneck of version 1", straight or version_1()
    other = "" if case.network == "transformer" else "no transformer"
    yield "layer normalisation with epsilon 1e-6", other or constant(attention, "EPSILON", 1e-6)
    unbiased_too = Mistake(replaced=((attention, "layer_norm", unbiased_norm),))
    yield "layer normalisation by an unbiased variance", other or unbiased_too
    # Nearly the approximation of GPT-2.
    nearly = Mistake(replaced=((attention, "erf", lambda inputs: np.tanh(1.1283 * inputs + 0.1008 * inputs**3)),))
    yield "approximated GELU", other or nearly
    yield "attention without its mask", other or unmasked()
    yield "attention without its scale", other or unscaled()
    ungated = "" if case.network == "recurrent" else "no gates"
    yield "forget gate that begins open", ungated or gates(forget_bias=1.0)


def normalisation_rows(case):
    none = "" if case.network == "residual" else "no batch normalisation, and so no state"
    yield "batch normalisation with epsilon 1e-3", none or constant(batch_norm, "EPSILON", 1e-3)
    yield "running statistics with another share", none or constant(batch_norm, "MOMENTUM", 0.01, 0.9)
    yield "running variance that is biased", none or other_statistics(biased=True)
    yield "running statistics that stay", none or other_statistics(kept=True)
    yield "normalisation by an unbiased variance", none or other_statistics(used=unbiased)
    yield "normalisation by running statistics", none or other_statistics(used=running)
    yield "statistics without a gradient", none or other_statistics(used=without_gradient)
