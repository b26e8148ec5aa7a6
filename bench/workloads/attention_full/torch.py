"""Implements attention-full in PyTorch: scaled_dot_product_attention, composed where a version lacks it."""

from __future__ import annotations

from torch.nn import functional

from ...frameworks.torch.adapter import inference
from ..transformer_encoder.torch import ComposedAttention, FusedAttention
from . import CAUSAL


def build(size, parameters, batch, transform, causal=CAUSAL):
    if hasattr(functional, "scaled_dot_product_attention"):
        module = FusedAttention(causal)
    else:
        module = ComposedAttention(causal, size["sequence"], batch[0])
    return inference(module, transform, ("mixed",))
