"""Forms of a transformer's block in PyTorch: how queries, keys and values are taken from their common product.

A gradient of an index is an array of zeros as large as the product, with one part filled in; three of them are added.
"""

from __future__ import annotations

from torch.nn import functional

from bench.workloads.transformer_encoder import torch as transformer

BLOCK = "bench.workloads.transformer_encoder.torch:Block"


class Block(transformer.Block):
    """The block with a method that takes the three apart."""

    def forward(self, hidden):
        batch, sequence, width = hidden.shape
        queries, keys, values = self.parts(self.qkv(self.attention_norm(hidden)))
        mixed = self.attend(queries, keys, values)
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(batch, sequence, width))
        return hidden + self.contract(functional.gelu(self.expand(self.feedforward_norm(hidden))))


class Unbound(Block):
    def parts(self, projected):
        batch, sequence, width = projected.shape
        return projected.view(batch, sequence, 3, self.heads, width // 3 // self.heads).permute(2, 0, 3, 1, 4).unbind(0)


class Split(Block):
    def parts(self, projected):
        batch, sequence, width = projected.shape
        shape = (batch, sequence, self.heads, width // 3 // self.heads)
        return [part.view(shape).transpose(1, 2) for part in projected.split(width // 3, -1)]


FORMS = {"unbound": {BLOCK: Unbound}, "split": {BLOCK: Split}}
