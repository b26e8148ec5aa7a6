"""Implements lengths-exact in PyTorch: a module; torch.compile leaves the length open, where it can."""

from __future__ import annotations

from typing import Optional

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch import graphs, lazy
from ...frameworks.torch.adapter import inference
from ..sequence_lengths import calls, names


class Fused(nn.Module):
    """Attention with PyTorch 2's own kernel, which takes the axes batch, head, token and channel."""

    def forward(self, queries, keys, values, visible: Optional[torch.Tensor]):
        parts = queries.unsqueeze(1), keys.unsqueeze(1), values.unsqueeze(1)
        return functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], visible).squeeze(1)


class Composed(nn.Module):
    """Attention from products and a softmax, for versions before PyTorch 2."""

    def forward(self, queries, keys, values, visible: Optional[torch.Tensor]):
        scores = torch.bmm(queries * queries.size(-1) ** -0.5, keys.transpose(1, 2))
        if visible is not None:
            scores = scores.masked_fill(~visible, float("-inf"))
        return torch.bmm(functional.softmax(scores, dim=-1), values)


class Encoder(nn.Module):
    """The model of a batch of one length."""

    def __init__(self, parameters):
        super().__init__()
        self.attend = Fused() if hasattr(functional, "scaled_dot_product_attention") else Composed()
        for name, value in parameters.items():
            self.register_buffer(name, value)

    def encode(self, tokens, visible: Optional[torch.Tensor]):
        hidden = functional.embedding(tokens, self.table)
        parts = torch.matmul(hidden, self.qkv).chunk(3, dim=-1)
        hidden = hidden + torch.matmul(self.attend(parts[0], parts[1], parts[2], visible), self.output)
        return hidden + torch.matmul(functional.relu(torch.matmul(hidden, self.expand)), self.contract)

    def forward(self, tokens):
        return self.encode(tokens, None).mean(dim=1)


class Masked(Encoder):
    """The model of tokens of which the first ones count."""

    def forward(self, tokens, length):
        visible = torch.arange(tokens.size(1), device=tokens.device) < length
        hidden = self.encode(tokens, visible.unsqueeze(0))
        return torch.matmul((visible / length).to(hidden.dtype), hidden)


def build(size, parameters, batch, transform):
    is_exact = len(batch) == size["lengths"]
    if is_exact and transform.mode.startswith("compile") and transform.mode not in lazy.MODES:
        # The first call then compiles for any length. PyTorch 2.0 cannot, and compiles each: it does so with
        # ``dynamic=True``, too, whose code takes 2.5 times as long as eager's.
        mark = getattr(torch._dynamo, "mark_dynamic", lambda tokens, axis: None)
        for tokens in batch:
            mark(tokens, 1)

    def called(function, **options):
        one = graphs.kept(transform(function, **options), transform.mode)
        return lambda *batch: tuple(one(*given) for given in calls(size, batch))

    module = Encoder(parameters) if is_exact else Masked(parameters)
    return inference(module, transform.calling(called), names(size))
