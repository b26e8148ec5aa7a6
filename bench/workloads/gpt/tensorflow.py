"""Implements gpt in TensorFlow: functions of variables, those of transformer-train."""

from __future__ import annotations

import functools

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.compiler import FROZEN
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask
from ..transformer_train.tensorflow import predict


def build(size, parameters, batch, transform):
    make_mask = functools.partial(causal_mask, size["sequence"], parameters["token_embedding"].dtype)
    made = make_mask()

    def logits(variables, tokens):
        # A graph with frozen weights takes nothing but the batch, so the mask is a constant of it, too.
        mask = make_mask() if transform.mode == FROZEN else made
        return {"logits": tf.reshape(predict(size, variables, tokens, mask), (*tokens.shape, size["vocabulary"]))}

    return inference(logits, parameters, transform, attention=ATTENTION)
