"""Implements lenet-train in PyTorch: an nn.Module with its optimizer.

The images are permuted to NCHW. With one channel that is channels_last as well, and PyTorch's convolutions return this
layout. With NCHW in memory a step took 1.05 to 1.11 times as long on a processor, one of catdog-cnn-train 1.2 to 1.4
times, in PyTorch 2.15 and 1.13. Weights in channels_last made no clear difference.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.precisions import MIXED
from ...frameworks.torch.adapter import module_training
from ...frameworks.torch.layouts import activation_layout
from . import OPTIMIZER

#: The modes in which Inductor compiles the module.
COMPILED = ("compile", "compile-step", "compile-max-autotune", "compile-reduce-overhead", "fit-compile")


def max_pool(images):
    return functional.max_pool2d(images, 2)


def max_pool_by_slices(images):
    """Pool 2 by 2 by comparing every other row, then every other column; an odd last one is dropped."""
    height, width = images.shape[2] // 2 * 2, images.shape[3] // 2 * 2
    rows = torch.maximum(images[:, :, 0:height:2], images[:, :, 1:height:2])
    return torch.maximum(rows[..., 0:width:2], rows[..., 1:width:2])


def max_pool_by_quarters(images):
    """Pool 2 by 2 by comparing four images, each of every other row and column; an odd last one is dropped."""
    height, width = images.shape[2] // 2 * 2, images.shape[3] // 2 * 2
    upper, lower = (
        torch.maximum(images[:, :, row:height:2, 0:width:2], images[:, :, row:height:2, 1:width:2]) for row in (0, 1)
    )
    return torch.maximum(upper, lower)


def pooling(transform, device):
    """Return the pooling for a mode on a device.

    What Inductor makes of max_pool2d is slow on a processor: with it a compiled step took twice as long as an eager
    one, and 0.8 times as long with slices, both here (batch 128, one thread) and in catdog-cnn-train. Pooling by the
    maximum over reshaped axes, which suits XLA, took five times as long. In mixed precision slices take
    1.3 times as long as quarters here, and as a compiled step 1.3 times as long as max_pool2d, in both networks.
    """
    if transform.mode not in COMPILED or device.type != "cpu":
        return max_pool
    if transform.precision != MIXED:
        return max_pool_by_slices
    return max_pool if transform.mode == "compile-step" else max_pool_by_quarters


class LeNet(nn.Module):
    """LeNet-5; forward returns the loss, so that it is compiled too."""

    def __init__(self, pool):
        super().__init__()
        self.pool = pool
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(16 * 5 * 5, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, 10)

    def logits(self, images):
        hidden = images.permute(0, 3, 1, 2)
        hidden = self.pool(functional.relu(self.conv1(hidden)))
        hidden = self.pool(functional.relu(self.conv2(hidden)))
        hidden = functional.relu(self.dense1(hidden.flatten(1)))
        hidden = functional.relu(self.dense2(hidden))
        return self.dense3(hidden)

    def forward(self, images, labels):
        return functional.cross_entropy(self.logits(images), labels)


def note_layout(module, images):
    """Keep in ``module.layout`` the layout in which its first convolution returns these images."""
    with torch.no_grad():
        module.layout = activation_layout(module.conv1(images.permute(0, 3, 1, 2)))


def last_channels(parameters):
    """Return the number of output channels of the last convolution."""
    return len(parameters[max(name for name in parameters if name.startswith("conv") and name.endswith("_bias"))])


def named_parameters(module):
    """Return the parameters of convolutions and dense layers with the specification's names and layout.

    PyTorch stores convolutions as (output, input, height, width) and dense weights transposed, and flattens channels
    first.
    """
    named = {name.replace(".", "_"): value for name, value in module.named_parameters()}
    dense, pooled = named["dense1_weight"].shape
    in_channels = named["dense1_weight"].reshape(dense, last_channels(named), -1)
    for name, value in named.items():
        if name.endswith("_weight"):
            named[name] = value.permute(2, 3, 1, 0) if name.startswith("conv") else value.t()
    named["dense1_weight"] = in_channels.permute(2, 1, 0).reshape(pooled, dense)
    return named


def load(module, parameters):
    """Copy the specification's parameters into the module: the inverse of ``named_parameters``."""
    state = dict(parameters)
    pooled, dense = state["dense1_weight"].shape
    in_channels = state["dense1_weight"].reshape(-1, last_channels(state), dense)
    for name, value in parameters.items():
        if name.endswith("_weight"):
            state[name] = value.permute(3, 2, 0, 1) if name.startswith("conv") else value.t()
    state["dense1_weight"] = in_channels.permute(2, 1, 0).reshape(dense, pooled)
    module.load_state_dict({name.replace("_", "."): value for name, value in state.items()})


def with_values(module, parameters, images):
    """Put a network where its images are, and give it the specification's parameters."""
    module.to(images.device, images.dtype)
    load(module, parameters)
    note_layout(module, images)
    return module


def made(parameters, batch, transform):
    return with_values(LeNet(pooling(transform, batch[0].device)), parameters, batch[0])


def build(size, parameters, batch, transform):
    module = made(parameters, batch, transform)
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
