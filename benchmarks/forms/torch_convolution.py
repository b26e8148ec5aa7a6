"""Forms of a convolution in PyTorch: images that a step puts into the order that a kernel takes, and weights in it."""

from __future__ import annotations

import torch

from bench.workloads.conv2d import torch as present


class Turned(present.Convolution):
    """Copies the images of every step to channels first."""

    def forward(self, images):
        return self.convolution(images.permute(0, 3, 1, 2).contiguous()).permute(0, 2, 3, 1)


class TurnedWithWeights(Turned):
    def __init__(self, weight, groups):
        super().__init__(weight, groups)
        self.convolution.to(memory_format=torch.contiguous_format)


class FirstWeights(present.Convolution):
    def __init__(self, weight, groups):
        super().__init__(weight, groups)
        self.convolution.to(memory_format=torch.contiguous_format)


MODULE = "bench.workloads.conv2d.torch:Convolution"
FORMS = {
    "images turned": {MODULE: Turned},
    "images turned; weights channels first": {MODULE: TurnedWithWeights},
    "weights channels first": {MODULE: FirstWeights},
}
