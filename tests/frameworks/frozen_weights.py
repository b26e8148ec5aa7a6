"""Runs inside a PyTorch 2 environment, through server.py: compiles modules that differ in their weights alone.

It returns what each of two modules returns for 1, where both have frozen weights and share a cache: for a weight
without axes, for the same where a method is compiled, and for a sum of weights, which the compiler computes.
"""

from __future__ import annotations

import torch

from bench.frameworks.torch.adapter import Adapter


class Scaled(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))

    def forward(self, inputs):
        return inputs * self.scale.sum()


def main(framework, mode):
    adapter = Adapter(mode, "cpu", "float32", 1)

    def computed(scale, method=False):
        torch._dynamo.reset()
        module = Scaled(scale).eval()
        compiled = adapter.transform(module.forward if method else module)
        with torch.inference_mode():
            return compiled(torch.ones(64))[0].item()

    return [
        [computed(2.0), computed(3.0)],
        [computed(4.0, method=True), computed(5.0, method=True)],
        [computed([6.0] * 16), computed([7.0] * 16)],
    ]
