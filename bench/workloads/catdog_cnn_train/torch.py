"""Implements catdog-cnn-train in PyTorch: an nn.Module with its optimizer.

The images are permuted to NCHW, which PyTorch takes for channels_last, as in lenet-train.
"""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from ..lenet_train.torch import named_parameters, pooling, with_values
from . import OPTIMIZER


class CatDogNetwork(nn.Module):
    """Three convolutions and two dense layers; forward returns the loss, so that it is compiled too."""

    def __init__(self, filters, pooled, dense, pool):
        super().__init__()
        self.pool = pool
        self.conv1 = nn.Conv2d(1, filters, 5)
        self.conv2 = nn.Conv2d(filters, 2 * filters, 5)
        self.conv3 = nn.Conv2d(2 * filters, 4 * filters, 5)
        self.dense1 = nn.Linear(pooled, dense)
        self.dense2 = nn.Linear(dense, 2)

    def logits(self, images):
        hidden = images.permute(0, 3, 1, 2)
        hidden = self.pool(functional.relu(self.conv1(hidden)))
        hidden = self.pool(functional.relu(self.conv2(hidden)))
        hidden = self.pool(functional.relu(self.conv3(hidden)))
        hidden = functional.relu(self.dense1(hidden.flatten(1)))
        return self.dense2(hidden)

    def forward(self, images, labels):
        return functional.cross_entropy(self.logits(images), labels)


def made(size, parameters, batch, transform):
    pooled, dense = parameters["dense1_weight"].shape
    module = CatDogNetwork(size["filters"], pooled, dense, pooling(transform, batch[0].device))
    return with_values(module, parameters, batch[0])


def build(size, parameters, batch, transform):
    module = made(size, parameters, batch, transform)
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
