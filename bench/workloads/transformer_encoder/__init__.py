"""Specifies transformer-encoder: inference of a pre-norm encoder on embedded sequences, without mask or dropout."""

from __future__ import annotations

import numpy as np

from .. import transformer
from ..serving import serving_sizes

ITEM = "sequence"
SIZES = {
    "check": {"batch": 2, "sequence": 8, "width": 16, "heads": 2, "layers": 2},
    "tiny": {"batch": 4, "sequence": 32, "width": 64, "heads": 4, "layers": 2},
    "mini": {"batch": 4, "sequence": 128, "width": 128, "heads": 4, "layers": 2},
    "small": {"batch": 8, "sequence": 128, "width": 256, "heads": 8, "layers": 2},
    # The shapes of BERT base and BERT large (Devlin et al. 2019).
    "medium": {"batch": 8, "sequence": 128, "width": 768, "heads": 12, "layers": 12},
    "large": {"batch": 8, "sequence": 128, "width": 1024, "heads": 16, "layers": 24},
}
SIZES.update(serving_sizes(SIZES["small"]))
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False


def parameters(size, random):
    return transformer.parameters(size, random)


def batch(size, random, source=None):
    """Draw embedded sequences (batch, sequence, width), standard normal."""
    return (random.standard_normal((size["batch"], size["sequence"], size["width"])).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the normalised hidden states (batch, sequence, width) in the dtype of ``parameters``."""
    return {"hidden": transformer.forward(size, parameters, batch[0], causal=False)}


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of the matrix products, with all pairs of the attention."""
    return transformer.forward_flops(size, causal=False)


def compulsory_bytes(size, itemsize):
    """Count parameters and inputs read once, and outputs written once."""
    states = size["batch"] * size["sequence"] * size["width"]
    return float(itemsize) * (transformer.parameter_count(size) + 2 * states)
