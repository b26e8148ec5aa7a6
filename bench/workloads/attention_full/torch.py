"""Implements attention-full in PyTorch: scaled_dot_product_attention, or composed where that is missing or slow."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference
from .. import long_attention
from ..transformer_encoder.torch import ComposedAttention, FusedAttention, lacks_kernel
from . import CAUSAL

#: Queries in a block, whose scores stay in a processor's caches.
BLOCK = 128


class BlockedAttention(nn.Module):
    """Composed attention of one block of queries after another, for a processor (Rabe and Staats, 2021).

    In PyTorch 1.13 blocks took 0.5 of the time of all scores at once (small), and 0.24 of it with a causal mask.
    https://arxiv.org/abs/2112.05682
    """

    def __init__(self, causal, sequence, like):
        super().__init__()
        self.attention_form = long_attention.IN_BLOCKS
        self.causal = causal
        self.blocks = long_attention.blocks(sequence, BLOCK, causal)
        mask = torch.full((BLOCK, BLOCK), float("-inf"), dtype=like.dtype, device=like.device).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, queries, keys, values):
        mixed = []
        for first, end, seen in self.blocks:
            scaled = queries[:, :, first:end] * queries.size(-1) ** -0.5
            scores = torch.matmul(scaled, keys[:, :, :seen].transpose(-2, -1))
            if self.causal:
                scores[:, :, :, first:end] += self.mask
            mixed.append(torch.matmul(functional.softmax(scores, dim=-1), values[:, :, :seen]))
        return torch.cat(mixed, dim=2)


def fused_is_slow(like):
    """Tell whether PyTorch's own function is slower than blocks for such arrays on a processor.

    In 2.0 it has no kernel for processors and composes all scores at once. In bfloat16 its kernel needs AMX: with
    AVX-512's instructions for bfloat16 alone, as on AMD's Zen 5, it takes as long as in float32.
    """
    if like.device.type != "cpu":
        return False
    if lacks_kernel(like):
        return True
    if like.dtype != torch.bfloat16:
        return False
    vectors, tiles = (
        getattr(torch.cpu, "_is_{}_supported".format(name), lambda: True) for name in ("avx512_bf16", "amx_tile")
    )
    return vectors() and not tiles()


def build(size, parameters, batch, transform, causal=CAUSAL):
    if hasattr(functional, "scaled_dot_product_attention") and not fused_is_slow(batch[0]):
        module = FusedAttention(causal)
    elif batch[0].is_cuda or len(long_attention.blocks(size["sequence"], BLOCK, causal)) == 1:
        module = ComposedAttention(causal, size["sequence"], batch[0])
    else:
        module = BlockedAttention(causal, size["sequence"], batch[0])
    return inference(module, transform, ("mixed",))
