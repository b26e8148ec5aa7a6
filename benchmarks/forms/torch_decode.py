"""Forms of decoding with a cache in PyTorch: attention to all of the cache under a mask, or to what is written.

And, for torch.compile: PyTorch's kernel of attention for one token, too, and batch and positions as two axes.
"""

from __future__ import annotations

from torch.nn import functional

from bench.workloads.kv_decode import torch as present

DECODE = "bench.workloads.kv_decode.torch:"
MODES = DECODE + "OP_BY_OP"


class TwoAxes(present.MaskedDecoder):
    """Reads tokens with batch and positions as two axes."""

    def forward(self, tokens, positions):
        hidden = functional.embedding(tokens, self.token_embedding) + self.position_embedding[positions]
        visible = self.all <= positions.unsqueeze(1)
        for block in self.blocks:
            hidden = block(hidden, positions, visible)
        return self.predict(hidden)


FORMS = {
    "masked": {MODES: ()},
    "written": {MODES: ("eager", "torchscript", "torchscript-optimized")},
    "kernel": {DECODE + "Summed": present.Fused},
    "two axes": {DECODE + "MaskedDecoder": TwoAxes},
    "kernel; two axes": {DECODE + "Summed": present.Fused, DECODE + "MaskedDecoder": TwoAxes},
}
