"""Implements gpt in PyTorch: the nn.Module of transformer-train without its loss."""

from __future__ import annotations

from ...frameworks.torch.adapter import inference
from ..transformer_train.torch import Predictor


def build(size, parameters, batch, transform):
    return inference(Predictor(size, parameters), transform, ("logits",))
