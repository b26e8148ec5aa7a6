"""Implements kv-decode in PyTorch: an nn.Module with caches of fixed length, which a step writes in place.

This is gpt-fast's technique: with positions in tensors, the prompt and a token are two shapes, compiled once each.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch import graphs, lazy
from ...frameworks.torch.layouts import module_settings
from ...frameworks.torch.programs import forward_only
from ...program import Program, Unsupported
from ..transformer_train.torch import Predictor


class Fused(nn.Module):
    """Attention to the visible part of a cache, with PyTorch 2's own kernel."""

    def __init__(self):
        super().__init__()
        self.attention_form = "fused"

    def forward(self, queries, keys, values, visible):
        return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=visible)


class Composed(nn.Module):
    """Attention to the visible part of a cache, for versions before PyTorch 2."""

    def __init__(self):
        super().__init__()
        self.attention_form = "composed"

    def forward(self, queries, keys, values, visible):
        scores = torch.matmul(queries * queries.size(-1) ** -0.5, keys.transpose(-2, -1))
        scores = scores.masked_fill(visible.logical_not(), float("-inf"))
        return torch.matmul(functional.softmax(scores, dim=-1), values)


class Cached(nn.Module):
    """A block of the stack that remembers keys and values."""

    def __init__(self, size, block, like):
        super().__init__()
        self.heads = size["heads"]
        self.attention_norm, self.qkv, self.output = block.attention_norm, block.qkv, block.output
        self.feedforward_norm, self.expand, self.contract = block.feedforward_norm, block.expand, block.contract
        shape = (size["batch"], size["heads"], size["sequence"], size["width"] // size["heads"])
        self.register_buffer("keys", like.new_zeros(shape))
        self.register_buffer("values", like.new_zeros(shape))
        self.attend = Fused() if hasattr(functional, "scaled_dot_product_attention") else Composed()

    def forward(self, hidden, positions, visible):
        batch, count, width = hidden.shape
        projected = self.qkv(self.attention_norm(hidden))
        parts = projected.view(batch, count, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, positions, parts[1])
        self.values.index_copy_(2, positions, parts[2])
        mixed = self.attend(parts[0], self.keys, self.values, visible)
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(batch, count, width))
        return hidden + self.contract(functional.gelu(self.expand(self.feedforward_norm(hidden))))


class Decoder(nn.Module):
    """The model of transformer-train that reads tokens at given positions, after those that it has read."""

    def __init__(self, size, parameters):
        super().__init__()
        model = Predictor(size, parameters)
        like = parameters["token_embedding"]
        self.token_embedding, self.position_embedding = model.token_embedding, model.position_embedding
        self.blocks = nn.ModuleList([Cached(size, block, like) for block in model.stack.blocks])
        self.final_norm = model.stack.final_norm
        self.register_buffer("all", torch.arange(size["sequence"], device=like.device))

    def forward(self, tokens, positions):
        """Return the logits after the last token."""
        hidden = functional.embedding(tokens, self.token_embedding) + self.position_embedding[positions]
        visible = self.all <= positions.unsqueeze(1)
        for block in self.blocks:
            hidden = block(hidden, positions, visible)
        return functional.linear(self.final_norm(hidden[:, -1]), self.token_embedding)


def build(size, parameters, batch, transform):
    if transform.mode in lazy.MODES:
        reason = "mode {} runs what is recorded when a step ends; here a step is many calls: see eager"
        raise Unsupported(reason.format(transform.mode))
    module = Decoder(size, parameters).eval().requires_grad_(False)
    advance = transform(module, training=False, settings=lambda: module_settings(module))
    advance = graphs.kept(advance, transform.mode)
    without_gradients = forward_only(transform.mode)
    prompt, sequence = size["prompt"], size["sequence"]
    positions = torch.arange(sequence, device=batch[0].device)
    single = [positions[index : index + 1].clone() for index in range(sequence)]

    def run(batches):
        with without_gradients():
            for (tokens,) in batches:
                logits = [advance(tokens[:, :prompt], positions[:prompt])]
                for index in range(prompt, sequence):
                    logits.append(advance(tokens[:, index : index + 1], single[index]))
                outputs = torch.stack(logits, dim=1)
        return {"logits": outputs}

    return Program(lambda *batch: run((batch,)), run=run)
