"""Specifies transformer-train: one Adam step of a small causal language model on seeded random tokens.

The model adds token embeddings and learned positions, applies the pre-norm stack with a causal mask, and computes the
logits with the transposed token embedding (tied, as in GPT-2). The loss is the cross-entropy with the next token.
"""

from __future__ import annotations

import numpy as np

from .. import layers, transformer

ITEM = "token"
SIZES = {
    "check": {"batch": 2, "sequence": 8, "width": 16, "heads": 2, "layers": 2, "vocabulary": 32},
    "tiny": {"batch": 4, "sequence": 32, "width": 64, "heads": 4, "layers": 2, "vocabulary": 256},
    "mini": {"batch": 4, "sequence": 64, "width": 128, "heads": 4, "layers": 2, "vocabulary": 512},
    "small": {"batch": 8, "sequence": 128, "width": 256, "heads": 8, "layers": 2, "vocabulary": 2048},
    "medium": {"batch": 8, "sequence": 256, "width": 512, "heads": 8, "layers": 6, "vocabulary": 8192},
    # The shape of the smallest GPT-2 (Radford et al. 2019), with half of its context.
    "large": {"batch": 2, "sequence": 512, "width": 768, "heads": 12, "layers": 12, "vocabulary": 50257},
}
PRECISIONS = ("float32", "mixed-bfloat16")
TRAINING = True
OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def parameters(size, random):
    """Draw the stack, token_embedding (vocabulary, width) and position_embedding (sequence, width)."""
    drawn = transformer.parameters(size, random)
    # With this scale the initial logits have a variance of 1.
    scale = size["width"] ** -0.5
    drawn["token_embedding"] = transformer.draw(random, (size["vocabulary"], size["width"]), scale)
    drawn["position_embedding"] = transformer.draw(random, (size["sequence"], size["width"]), scale)
    return drawn


def batch(size, random, source=None):
    """Draw uniform int32 tokens (batch, sequence), and as targets the same sequences one token later."""
    text = random.randint(0, size["vocabulary"], (size["batch"], size["sequence"] + 1)).astype(np.int32)
    return np.ascontiguousarray(text[:, :-1]), np.ascontiguousarray(text[:, 1:])


def predict(size, parameters, tokens):
    """Compute the logits (batch, sequence, vocabulary) of the next tokens."""
    table = parameters["token_embedding"]
    hidden = transformer.forward(size, parameters, table[tokens] + parameters["position_embedding"], causal=True)
    return hidden @ table.T


def loss(size, parameters, state, batch):
    """Compute the mean cross-entropy in the dtype of ``parameters``."""
    tokens, targets = batch
    return layers.cross_entropy(predict(size, parameters, tokens), targets), state


def items(size):
    return size["batch"] * size["sequence"]


def useful_flops(size):
    """Count the FLOPs of the matrix products, one forward and two backward, without masked pairs of the attention."""
    logits = 2.0 * items(size) * size["width"] * size["vocabulary"]
    return 3 * (transformer.forward_flops(size, causal=True) + logits)


def compulsory_bytes(size, itemsize):
    """Count parameters and both Adam moments read and written once, int32 tokens and targets read once."""
    embeddings = (size["vocabulary"] + size["sequence"]) * size["width"]
    return 6.0 * itemsize * (transformer.parameter_count(size) + embeddings) + 2 * 4 * items(size)
