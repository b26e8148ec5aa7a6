"""Implements attention-full in TensorFlow: products and a softmax, as Keras' function is on a processor."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask
from . import CAUSAL


def build(size, parameters, batch, transform, causal=CAUSAL):
    mask = causal_mask(size["sequence"], batch[0].dtype) if causal else None

    def attend(variables, queries, keys, values):
        scores = tf.matmul(queries * size["width"] ** -0.5, keys, transpose_b=True)
        scores = scores if mask is None else scores + mask
        return {"mixed": tf.matmul(tf.nn.softmax(scores), values)}

    return inference(attend, parameters, transform, attention=ATTENTION)
