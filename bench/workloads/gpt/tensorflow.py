"""Implements gpt in TensorFlow: functions of variables, those of transformer-train."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask
from ..transformer_train.tensorflow import predict


def build(size, parameters, batch, transform):
    mask = causal_mask(size["sequence"], parameters["token_embedding"].dtype)

    def logits(variables, tokens):
        return {"logits": tf.reshape(predict(size, variables, tokens, mask), (*tokens.shape, size["vocabulary"]))}

    return inference(logits, parameters, transform, attention=ATTENTION)
