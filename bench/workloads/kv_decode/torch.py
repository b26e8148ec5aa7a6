"""Implements kv-decode in PyTorch: an nn.Module with caches of fixed length, which a step writes in place.

What is compiled has gpt-fast's technique: with positions in tensors, the prompt and a token are two shapes, compiled
once each, and a mask hides what is not written. Op by op, a step attends to the part of the caches that is written.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch import graphs, lazy
from ...frameworks.torch.compiler import COMPILERS
from ...frameworks.torch.layouts import module_settings
from ...frameworks.torch.programs import forward_only
from ...program import Program
from ..transformer_encoder.torch import ComposedAttention, FusedAttention
from ..transformer_train.torch import Predictor

#: Modes that compile nothing, so that every step may have shapes of its own.
OP_BY_OP = ("eager",)


class Fused(nn.Module):
    """Attention to the visible part of a cache, with PyTorch 2's own kernel."""

    def __init__(self):
        super().__init__()
        self.attention_form = "fused"

    def forward(self, queries, keys, values, visible):
        return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=visible)


class Summed(Fused):
    """The same, composed for one token, of products and sums that torch.compile makes a loop of on a processor.

    In PyTorch 2.15 the kernel takes longer for one token: 1.1 times as long a step in sizes tiny and small.
    """

    def forward(self, queries, keys, values, visible):
        if queries.size(2) > 1:
            return super().forward(queries, keys, values, visible)
        scores = (queries * queries.size(-1) ** -0.5 * keys).sum(-1, keepdim=True)
        weights = functional.softmax(scores.masked_fill(visible.logical_not().view(-1, 1), float("-inf")), dim=2)
        return (weights * values).sum(2, keepdim=True)


class Composed(nn.Module):
    """Attention to the visible part of a cache, for versions before PyTorch 2."""

    def __init__(self):
        super().__init__()
        self.attention_form = "composed"

    def forward(self, queries, keys, values, visible):
        scores = torch.matmul(queries * queries.size(-1) ** -0.5, keys.transpose(-2, -1))
        scores = scores.masked_fill(visible.logical_not(), float("-inf"))
        return torch.matmul(functional.softmax(scores, dim=-1), values)


class Layers(nn.Module):
    """The layers of a block of the stack, with its own attention between them."""

    def __init__(self, size, block):
        super().__init__()
        self.batch, self.heads = size["batch"], size["heads"]
        self.attention_norm, self.qkv, self.output = block.attention_norm, block.qkv, block.output
        self.feedforward_norm, self.expand, self.contract = block.feedforward_norm, block.expand, block.contract

    def project(self, hidden):
        """Return queries, keys and values (3, batch, heads, positions, width of a head)."""
        projected = self.qkv(self.attention_norm(hidden))
        return projected.view(self.batch, -1, 3, self.heads, hidden.size(-1) // self.heads).permute(2, 0, 3, 1, 4)

    def complete(self, hidden, mixed):
        """Return what the block makes of its input and of the mixed values (batch, heads, positions, width)."""
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(hidden.shape))
        return hidden + self.contract(functional.gelu(self.expand(self.feedforward_norm(hidden))))


class Masked(Layers):
    """A block that attends to all of its caches, under a mask."""

    def __init__(self, size, block, like, fused=Fused):
        super().__init__(size, block)
        shape = (size["batch"], size["heads"], size["sequence"], size["width"] // size["heads"])
        self.register_buffer("keys", like.new_zeros(shape))
        self.register_buffer("values", like.new_zeros(shape))
        self.attend = fused() if hasattr(functional, "scaled_dot_product_attention") else Composed()

    def forward(self, hidden, positions, visible):
        parts = self.project(hidden)
        self.keys.index_copy_(2, positions, parts[1])
        self.values.index_copy_(2, positions, parts[2])
        return self.complete(hidden, self.attend(parts[0], self.keys, self.values, visible))


class SummedMasked(Masked):
    """The same, for torch.compile on a processor."""

    def __init__(self, size, block, like):
        super().__init__(size, block, like, Summed)


class Put(Masked):
    """The same, whose caches are written by indices: PyTorch/XLA 2.9 ends a process that copies to a single index."""

    def forward(self, hidden, positions, visible):
        parts = self.project(hidden)
        self.keys[:, :, positions] = parts[1]
        self.values[:, :, positions] = parts[2]
        return self.complete(hidden, self.attend(parts[0], self.keys, self.values, visible))


class Sliced(Layers):
    """A block that attends to the written part of its cache of keys and values: first a prompt, then single tokens."""

    def __init__(self, size, block, like):
        super().__init__(size, block)
        shape = (2, size["batch"], size["heads"], size["sequence"], size["width"] // size["heads"])
        self.register_buffer("cache", like.new_zeros(shape))
        if hasattr(functional, "scaled_dot_product_attention"):
            self.attend_causally, self.attend = FusedAttention(True), FusedAttention(False)
        else:
            self.attend_causally, self.attend = (
                ComposedAttention(causal, size["prompt"], like) for causal in (True, False)
            )

    def forward(self, hidden, start: int):
        parts = self.project(hidden)
        end = start + hidden.size(1)
        self.cache[:, :, :, start:end] = parts[1:]
        keys, values = self.cache[:, :, :, :end].unbind()
        # One token sees all that is written.
        mixed = self.attend(parts[0], keys, values) if start > 0 else self.attend_causally(parts[0], keys, values)
        return self.complete(hidden, mixed)


class Decoder(nn.Module):
    """The model of transformer-train that reads tokens at given positions, after those that it has read."""

    def __init__(self, size, parameters, block):
        super().__init__()
        model = Predictor(size, parameters)
        like = parameters["token_embedding"]
        self.token_embedding, self.position_embedding = model.token_embedding, model.position_embedding
        self.blocks = nn.ModuleList([block(size, layers, like) for layers in model.stack.blocks])
        self.final_norm = model.stack.final_norm

    def predict(self, hidden):
        """Return the logits after the last position."""
        return functional.linear(self.final_norm(hidden[:, -1]), self.token_embedding)


class MaskedDecoder(Decoder):
    """Reads tokens (batch, positions) at positions that are a tensor, whatever they are.

    Batch and positions are one axis of the layers: torch.compile gives the first of two axes of length 1 a stride of
    0, and PyTorch's products then copy the values of each token.
    """

    def __init__(self, size, parameters, block=Masked):
        super().__init__(size, parameters, block)
        self.register_buffer("all", torch.arange(size["sequence"], device=self.token_embedding.device))

    def forward(self, tokens, positions):
        hidden = functional.embedding(tokens, self.token_embedding) + self.position_embedding[positions]
        hidden = hidden.flatten(0, 1)
        visible = self.all <= positions.unsqueeze(1)
        for block in self.blocks:
            hidden = block(hidden, positions, visible)
        return self.predict(hidden.view(tokens.size(0), tokens.size(1), -1))


class SlicedDecoder(Decoder):
    """Reads a prompt from position 0 on, and then one token at a time at the position ``start``."""

    def __init__(self, size, parameters):
        super().__init__(size, parameters, Sliced)

    def forward(self, tokens, start: int):
        positions = self.position_embedding[start : start + tokens.size(1)]
        hidden = functional.embedding(tokens, self.token_embedding) + positions
        for block in self.blocks:
            hidden = block(hidden, start)
        return self.predict(hidden)


def masked_block(mode, device):
    """Return the block of a mode whose shapes stay the same."""
    if mode == lazy.XLA:
        return Put
    return SummedMasked if mode.startswith(COMPILERS) and device.type == "cpu" else Masked


def settings_of(module, waits):
    """Return what is in force: of the module, and whether a step waits for its calls."""
    return dict(module_settings(module), **({"synchronised": "every step"} if waits else {}))


def build(size, parameters, batch, transform):
    prompt, sequence = size["prompt"], size["sequence"]
    if transform.mode in OP_BY_OP:
        module = SlicedDecoder(size, parameters)
        places = [0, *range(prompt, sequence)]
    else:
        # Where a kernel is missing, TorchScript of PyTorch 1.13 ends the process; a call outside of it says which.
        like = parameters["token_embedding"][:1]
        torch.mm(like, like.t())
        module = MaskedDecoder(size, parameters, masked_block(transform.mode, like.device))
        places = torch.arange(sequence, device=batch[0].device).split([prompt] + [1] * (sequence - prompt))
        # Copies, each of which begins at a cache line, as torch.compile prefers.
        places = [place.clone() for place in places]
    module.eval().requires_grad_(False)
    # A call of lazy tensors runs what it recorded, and a step waits for all of its calls.
    waits, part = (lazy.wait, lazy.CALL) if transform.mode in lazy.MODES else (None, "module")
    advance = transform(module, training=False, settings=lambda: settings_of(module, waits), part=part)
    advance = graphs.kept(advance, transform.mode)
    without_gradients = forward_only(transform.mode)

    def run(batches):
        with without_gradients():
            for (tokens,) in batches:
                logits = [advance(tokens[:, :prompt], places[0])]
                for index in range(prompt, sequence):
                    logits.append(advance(tokens[:, index : index + 1], places[1 + index - prompt]))
                outputs = torch.stack(logits, dim=1)
                if waits is not None:
                    waits()
        return {"logits": outputs}

    return Program(lambda *batch: run((batch,)), run=run)
