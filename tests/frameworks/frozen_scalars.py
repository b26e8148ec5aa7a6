"""Runs inside a PyTorch 2 environment, through server.py: compiles one module with two weights that have no axes.

It returns what each of the two modules returns for 1, where both have frozen weights and share a cache.
"""

from __future__ import annotations

import torch

from bench.frameworks.torch.adapter import Adapter


class Scaled(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))

    def forward(self, inputs):
        return inputs * self.scale


def main(framework, mode):
    adapter = Adapter(mode, "cpu", "float32", 1)
    found = []
    for scale in (2.0, 3.0):
        torch._dynamo.reset()
        scaled = adapter.transform(Scaled(scale).eval())
        with torch.inference_mode():
            found.append(scaled(torch.ones(64))[0].item())
    return found
