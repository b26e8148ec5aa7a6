"""Implements attention-full in TensorFlow: products and a softmax, as Keras' function is on a processor."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from .. import long_attention
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask
from . import CAUSAL

#: Queries in a block on a processor. A block leaves out the keys after it: blocks took 0.6 to 0.7 of the time (small).
#: Without a causal mask, blocks took as long as all queries at once.
BLOCK = 256


def build(size, parameters, batch, transform, causal=CAUSAL):
    mask = causal_mask(size["sequence"], batch[0].dtype) if causal else None
    in_blocks = causal and not tf.config.get_visible_devices("GPU")
    blocks = long_attention.blocks(size["sequence"], BLOCK, causal) if in_blocks else []

    def mix(queries, keys, values, mask):
        scores = tf.matmul(queries * size["width"] ** -0.5, keys, transpose_b=True)
        scores = scores if mask is None else scores + mask
        return tf.matmul(tf.nn.softmax(scores), values)

    def attend(variables, queries, keys, values):
        if len(blocks) < 2:
            return {"mixed": mix(queries, keys, values, mask)}
        mixed = [
            mix(queries[:, :, first:end], keys[:, :, :seen], values[:, :, :seen], mask[first:end, :seen])
            for first, end, seen in blocks
        ]
        return {"mixed": tf.concat(mixed, axis=2)}

    form = long_attention.IN_BLOCKS if len(blocks) > 1 else ATTENTION
    return inference(attend, parameters, transform, attention=form)
