"""Implements gpt in Haiku: the model of transformer-train without its loss."""

from __future__ import annotations

import functools

from ...frameworks.haiku.adapter import inference
from ..transformer_encoder.haiku import ATTENTION
from ..transformer_train.haiku import paths, predict


def build(size, parameters, batch, transform):
    model = functools.partial(predict, size)
    return inference(model, paths(parameters), parameters, transform, "logits", attention=ATTENTION)
