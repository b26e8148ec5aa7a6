"""Forms of a lone convolution in PyTorch under ``optimize_for_inference``: one that it converts."""

from __future__ import annotations

from torch import nn

from bench.workloads.conv2d import torch as present


def converted(mode, weight):
    """Return the layer of every other mode, which it converts to oneDNN's layout."""
    return nn.Conv2d


class Turned(present.Convolution):
    """Copies the images of every step to channels first."""

    def forward(self, images):
        return self.convolution(images.permute(0, 3, 1, 2).contiguous()).permute(0, 2, 3, 1)


LAYER = "bench.workloads.conv2d.torch:lone_convolution"
FORMS = {
    "converted": {LAYER: converted},
    "converted, images turned": {LAYER: converted, "bench.workloads.conv2d.torch:Convolution": Turned},
}
