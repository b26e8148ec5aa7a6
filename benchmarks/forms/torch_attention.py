"""Forms of attention in PyTorch: its own kernel or blocks of queries, and without the kernel how the mask is added."""

from __future__ import annotations

import torch
from torch.nn import functional

from bench.workloads.transformer_encoder import torch as present


class MaskInProduct(present.ComposedAttention):
    """Adds the mask by ``torch.baddbmm``."""

    def forward(self, queries, keys, values):
        rows, columns = queries.flatten(0, 1), keys.flatten(0, 1).transpose(1, 2)
        scores = torch.baddbmm(self.mask, rows, columns, alpha=queries.size(-1) ** -0.5)
        return torch.matmul(functional.softmax(scores, dim=-1).view(*queries.shape[:2], *scores.shape[1:]), values)


class MaskInPlace(present.ComposedAttention):
    """Adds the mask to the scores in their own memory."""

    def forward(self, queries, keys, values):
        scores = torch.matmul(queries * queries.size(-1) ** -0.5, keys.transpose(-2, -1)).add_(self.mask)
        return torch.matmul(functional.softmax(scores, dim=-1), values)


CHOICE = "bench.workloads.attention_full.torch:fused_is_slow"
LACKS = "bench.workloads.transformer_encoder.torch:lacks_kernel"
COMPOSED = "bench.workloads.transformer_encoder.torch:ComposedAttention"
FORMS = {
    "fused": {CHOICE: lambda like: False, LACKS: lambda like: False},
    "blocks": {CHOICE: lambda like: True},
    "baddbmm": {COMPOSED: MaskInProduct},
    "in place": {COMPOSED: MaskInPlace},
}
