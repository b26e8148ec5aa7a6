"""Computes the residual networks of the specifications (He et al. 2016): layers, initial values, forward pass, work.

Version 1.5: in a bottleneck the convolution of 3 by 3 has the stride, as in torchvision. A size has ``depth``, the
number of layers with weights on a path; ``side`` of the images; ``stem``, the side of the first kernels; ``width``,
the channels of the first stage; ``batch`` and ``classes``. A stem of 7 has stride 2 and a maximum pooling; a stem of 3
has neither, as is usual for images of 32 by 32. Every convolution lacks a bias and has a batch normalisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import batch_norm, convolution, layers

#: {depth: (whether blocks are bottlenecks, number of blocks of each stage)}; 6 and 8 have two stages, for the checks.
NETWORKS = {6: (False, (1, 1)), 8: (True, (1, 1)), 18: (False, (2, 2, 2, 2)), 50: (True, (3, 4, 6, 3))}
#: The outputs of a bottleneck are this many times as wide as its convolutions.
EXPANSION = 4
COLOURS = 3
END_SCALE = 0.2
#: Winograd's F(4×4, 3×3) computes 16 outputs of a 3 by 3 filter with 36 products instead of 144 (Lavin & Gray 2016).
FLOPS_DIVISOR = 4


class Convolution(NamedTuple):
    """A convolution with its batch normalisation; it is padded by half of its kernel."""

    name: str
    kernel: int
    inputs: int
    outputs: int
    stride: int


def stem(size):
    return Convolution("stem", size["stem"], COLOURS, size["width"], 2 if size["stem"] == 7 else 1)


def blocks(size):
    """Return the convolutions of each block: a list for its branch, and its shortcut's; None for an identity."""
    bottleneck, repeats = NETWORKS[size["depth"]]
    found, inputs = [], size["width"]
    for stage, repeated in enumerate(repeats):
        width = size["width"] * 2**stage
        outputs = width * EXPANSION if bottleneck else width
        for index in range(repeated):
            stride = 2 if stage and not index else 1
            name = "stage%d.block%d." % (stage + 1, index + 1)
            if bottleneck:
                shapes = ((1, inputs, width, 1), (3, width, width, stride), (1, width, outputs, 1))
            else:
                shapes = ((3, inputs, width, stride), (3, width, outputs, 1))
            branch = [Convolution(name + "conv%d" % number, *each) for number, each in enumerate(shapes, 1)]
            projected = stride > 1 or inputs != outputs
            found.append((branch, Convolution(name + "shortcut", 1, inputs, outputs, stride) if projected else None))
            inputs = outputs
    return found


def convolutions(size):
    """List all convolutions, each with the side of its output."""
    side = -(-size["side"] // stem(size).stride)
    found = [(stem(size), side)]
    side = -(-side // 2) if stem(size).stride == 2 else side
    for branch, shortcut in blocks(size):
        for layer in branch:
            side = -(-side // layer.stride)
            found.append((layer, side))
        if shortcut is not None:
            found.append((shortcut, side))
    return found


def parameters(size, random):
    """Draw He-initialised weights, scales near 1, those at the end of a block near 0.2, and shifts and biases near 0.

    With scales of 1 at the ends, rounding to float32 changed gradients of 50 layers by 10 %. Goyal et al. 2017 begin
    with 0 there, which would hide what is left out.
    """
    drawn, last = {}, {branch[-1].name for branch, _ in blocks(size)}
    for layer, _ in convolutions(size):
        shape = (layer.kernel, layer.kernel, layer.inputs, layer.outputs)
        drawn[layer.name + ".weight"] = layers.he(random, shape, layer.kernel**2 * layer.inputs)
        level = END_SCALE if layer.name in last else 1
        drawn[layer.name + ".scale"] = (level * (1 + 0.1 * random.standard_normal(layer.outputs))).astype(np.float32)
        drawn[layer.name + ".shift"] = (0.1 * random.standard_normal(layer.outputs)).astype(np.float32)
    rows = features(size)
    drawn["dense.weight"] = layers.he(random, (rows, size["classes"]), 2 * rows)
    drawn["dense.bias"] = (0.1 * random.standard_normal(size["classes"])).astype(np.float32)
    return drawn


def features(size):
    """Return the number of channels of the last stage."""
    return blocks(size)[-1][0][-1].outputs


def initial_state(size):
    """Return running means of 0 and variances of 1."""
    state = {}
    for layer, _ in convolutions(size):
        state[layer.name + ".mean"] = np.zeros(layer.outputs, np.float32)
        state[layer.name + ".variance"] = np.ones(layer.outputs, np.float32)
    return state


def images(size, random):
    """Draw images (batch, side, side, 3), standard normal, as photographs are after their normalisation."""
    return random.standard_normal((size["batch"], size["side"], size["side"], COLOURS)).astype(np.float32)


def forward(size, parameters, images, normalise):
    """Compute the logits (batch, classes); ``normalise(name, images)`` is the batch normalisation of a convolution."""

    def apply(layer, images):
        weight = parameters[layer.name + ".weight"]
        convolved = convolution.conv2d(images, weight, stride=layer.stride, padding=layer.kernel // 2)
        return normalise(layer.name, convolved)

    hidden = layers.relu(apply(stem(size), images))
    if stem(size).stride == 2:
        hidden = convolution.overlapping_max_pool(hidden)
    for branch, shortcut in blocks(size):
        kept = hidden if shortcut is None else apply(shortcut, hidden)
        for layer in branch[:-1]:
            hidden = layers.relu(apply(layer, hidden))
        hidden = layers.relu(apply(branch[-1], hidden) + kept)
    return hidden.mean(axis=(1, 2)) @ parameters["dense.weight"] + parameters["dense.bias"]


def reference(size, parameters, batch):
    """Compute the logits with the running statistics, which are parameters here."""

    def normalise(name, images):
        return batch_norm.normalise(images, *(parameters[name + "." + part] for part in NORM))

    return {"logits": forward(size, parameters, batch[0], normalise)}


#: The arrays of a batch normalisation, in the order of ``batch_norm.normalise``.
NORM = ("mean", "variance", "scale", "shift")


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy of ``(images, labels)`` and the new running statistics."""
    kept = {}

    def normalise(name, images):
        mean, variance = name + ".mean", name + ".variance"
        scale, shift = parameters[name + ".scale"], parameters[name + ".shift"]
        normal, kept[mean], kept[variance] = batch_norm.train(images, scale, shift, state[mean], state[variance])
        return normal

    return layers.cross_entropy(forward(size, parameters, batch[0], normalise), batch[1]), kept


def forward_flops(size):
    """Count the FLOPs of convolutions and the dense layer, those of the first convolution apart: (first, others)."""
    products = [
        2.0 * size["batch"] * side**2 * layer.kernel**2 * layer.inputs * layer.outputs
        for layer, side in convolutions(size)
    ]
    return products[0], sum(products[1:]) + 2.0 * size["batch"] * features(size) * size["classes"]


def parameter_count(size):
    """Count the parameters; running statistics are none."""
    count = sum(layer.outputs * (layer.kernel**2 * layer.inputs + 2) for layer, _ in convolutions(size))
    return count + (features(size) + 1) * size["classes"]


def statistics_count(size):
    return 2 * sum(layer.outputs for layer, _ in convolutions(size))


def image_elements(size):
    return size["batch"] * size["side"] ** 2 * COLOURS
