"""Implements transformer-encoder in PyTorch: an nn.Module of pre-norm blocks, which transformer-train uses too."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference
from .. import attention, transformer


class FusedAttention(nn.Module):
    """Attention with PyTorch 2's own kernel."""

    def __init__(self, causal):
        super().__init__()
        self.attention_form = "fused"
        self.causal = causal

    def forward(self, queries, keys, values):
        return functional.scaled_dot_product_attention(queries, keys, values, is_causal=self.causal)


class ComposedAttention(nn.Module):
    """Attention from matrix products and a softmax, for versions without a kernel."""

    def __init__(self, causal, sequence, like):
        super().__init__()
        self.attention_form = "composed"
        self.causal = causal
        mask = torch.full((sequence, sequence), float("-inf"), dtype=like.dtype, device=like.device).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, queries, keys, values):
        scores = torch.matmul(queries * queries.size(-1) ** -0.5, keys.transpose(-2, -1))
        if self.causal:
            scores = scores + self.mask
        return torch.matmul(functional.softmax(scores, dim=-1), values)


def lacks_kernel(like):
    """Tell whether scaled_dot_product_attention composes all scores, as it does in PyTorch 2.0 on a processor."""
    return like.device.type == "cpu" and torch.__version__.startswith("2.0.")


def attention_of(size, causal, like):
    """Make the attention of a network, whose sequences are short.

    With PyTorch 2.0's function gpt took 1.18 times as long, compiled (small). Op by op, or without a mask, it was not
    certainly slower.
    """
    if not hasattr(functional, "scaled_dot_product_attention") or (causal and lacks_kernel(like)):
        return ComposedAttention(causal, size["sequence"], like)
    return FusedAttention(causal)


class Block(nn.Module):
    """A pre-norm block: attention, then a feed-forward layer with GELU, each added to its input."""

    def __init__(self, size, causal, like):
        super().__init__()
        placed = {"dtype": like.dtype, "device": like.device}
        self.heads = size["heads"]
        self.attention_norm = nn.LayerNorm(size["width"], eps=attention.EPSILON, **placed)
        self.feedforward_norm = nn.LayerNorm(size["width"], eps=attention.EPSILON, **placed)
        for name, rows, columns, biased in transformer.linear_shapes(size):
            self.add_module(name, nn.Linear(rows, columns, bias=biased, **placed))
        self.attend = attention_of(size, causal, like)

    def forward(self, hidden):
        batch, sequence, width = hidden.shape
        projected = self.qkv(self.attention_norm(hidden))
        parts = projected.view(batch, sequence, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = self.attend(parts[0], parts[1], parts[2])
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(batch, sequence, width))
        return hidden + self.contract(functional.gelu(self.expand(self.feedforward_norm(hidden))))


class Stack(nn.Module):
    """The blocks and the final normalisation, with the specification's parameters."""

    def __init__(self, size, parameters, causal):
        super().__init__()
        like = parameters["final_norm.scale"]
        self.blocks = nn.Sequential(*[Block(size, causal, like) for _ in range(size["layers"])])
        self.final_norm = nn.LayerNorm(size["width"], eps=attention.EPSILON, dtype=like.dtype, device=like.device)
        with torch.no_grad():
            for name, value in named_parameters(self).items():
                value.copy_(parameters[name])

    def forward(self, hidden):
        return self.final_norm(self.blocks(hidden))


def named_parameters(stack):
    """Return the parameters with the specification's names; nn.Linear stores its weight transposed."""
    named = {}
    for path, layer in stack.named_modules():
        name = path.replace("blocks.", "block")
        if isinstance(layer, nn.LayerNorm):
            named[name + ".scale"], named[name + ".shift"] = layer.weight, layer.bias
        elif isinstance(layer, nn.Linear):
            named[name + ".weight"] = layer.weight.t()
            if layer.bias is not None:
                named[name + ".bias"] = layer.bias
    return named


def build(size, parameters, batch, transform):
    return inference(Stack(size, parameters, causal=False), transform, ("hidden",))
