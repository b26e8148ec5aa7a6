"""Computes the stack of pre-norm transformer blocks of the transformer specifications.

A block is ``x + output(attention(norm(x)))`` followed by ``x + contract(gelu(expand(norm(x))))``; the stack ends in a
layer normalisation (Radford et al. 2019). A size has ``layers``, ``width``, ``heads``, ``sequence`` and ``batch``.
Linear weights have shape (inputs, outputs); the columns of ``qkv`` are ordered by part (query, key, value), then head,
then column of the head.
"""

from __future__ import annotations

import numpy as np

from . import attention

#: The feed-forward layer is this many times as wide as the stack.
EXPANSION = 4


def linear_shapes(size):
    """Return (name, inputs, outputs, whether it has a bias) of a block's linear layers."""
    width = size["width"]
    return (
        # No bias: a bias of the keys cancels in the softmax, so its true gradient is zero. Adam would turn the rounding
        # error of this gradient into steps of ± the learning rate, different in every framework.
        ("qkv", width, 3 * width, False),
        ("output", width, width, True),
        ("expand", width, EXPANSION * width, True),
        ("contract", EXPANSION * width, width, True),
    )


def draw(random, shape, scale):
    """Draw float32 values, normal with standard deviation ``scale``."""
    return (scale * random.standard_normal(shape)).astype(np.float32)


def parameters(size, random):
    """Draw the stack's parameters: weights of variance 1 / inputs, scales near 1, shifts and biases near 0.

    With the usual exact 1 and 0, an implementation that omits a scale, shift or bias would still be correct.
    """
    drawn = {}

    def draw_norm(name):
        drawn[name + ".scale"] = 1 + draw(random, size["width"], 0.1)
        drawn[name + ".shift"] = draw(random, size["width"], 0.1)

    for index in range(size["layers"]):
        block = "block%d." % index
        draw_norm(block + "attention_norm")
        draw_norm(block + "feedforward_norm")
        for name, rows, columns, biased in linear_shapes(size):
            drawn[block + name + ".weight"] = draw(random, (rows, columns), rows**-0.5)
            if biased:
                drawn[block + name + ".bias"] = draw(random, columns, 0.1)
    draw_norm("final_norm")
    return drawn


def norm(parameters, name, inputs):
    return attention.layer_norm(inputs, parameters[name + ".scale"], parameters[name + ".shift"])


def linear(parameters, name, inputs):
    return inputs @ parameters[name + ".weight"] + parameters[name + ".bias"]


def attend(size, parameters, block, hidden, causal):
    """Compute the attention branch of a block, which is added to ``hidden``."""
    projected = norm(parameters, block + "attention_norm", hidden) @ parameters[block + "qkv.weight"]
    mixed = attention.attention(*attention.split_heads(projected, 3, size["heads"]), causal=causal)
    return linear(parameters, block + "output", attention.merge_heads(mixed))


def feed_forward(parameters, block, hidden):
    """Compute the feed-forward branch of a block, which is added to ``hidden``."""
    wide = linear(parameters, block + "expand", norm(parameters, block + "feedforward_norm", hidden))
    return linear(parameters, block + "contract", attention.gelu(wide))


def forward(size, parameters, hidden, causal):
    """Map hidden (batch, sequence, width) through the blocks and the final normalisation."""
    for index in range(size["layers"]):
        block = "block%d." % index
        hidden = hidden + attend(size, parameters, block, hidden, causal)
        hidden = hidden + feed_forward(parameters, block, hidden)
    return norm(parameters, "final_norm", hidden)


def parameter_count(size):
    """Count the stack's parameters."""
    block = sum(rows * columns + biased * columns for _, rows, columns, biased in linear_shapes(size))
    return size["layers"] * (block + 4 * size["width"]) + 2 * size["width"]


def forward_flops(size, causal):
    """Count the FLOPs of one forward pass's matrix products; causal attention counts pairs up to the diagonal only."""
    tokens = size["batch"] * size["sequence"]
    linear = 2.0 * tokens * sum(rows * columns for _, rows, columns, _ in linear_shapes(size))
    visible = (size["sequence"] + 1) / 2 if causal else size["sequence"]
    # Scores and the weighted sum of the values: two products over the width for each pair of positions.
    pairs = 2 * 2.0 * tokens * visible * size["width"]
    return size["layers"] * (linear + pairs)
