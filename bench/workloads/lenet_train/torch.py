"""Implements lenet-train in PyTorch: an nn.Module with its optimizer.

The images become NCHW by a view: with one channel both layouts are the same memory. channels_last was no faster for
this network on a CPU, in PyTorch 1.13 and 2.15.
"""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch import module_training
from . import OPTIMIZER


class LeNet(nn.Module):
    """LeNet-5; forward gives the loss, so that a compiler sees all of it."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(16 * 5 * 5, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, 10)

    def forward(self, images, labels):
        hidden = images.permute(0, 3, 1, 2)
        hidden = functional.max_pool2d(functional.relu(self.conv1(hidden)), 2)
        hidden = functional.max_pool2d(functional.relu(self.conv2(hidden)), 2)
        hidden = functional.relu(self.dense1(hidden.flatten(1)))
        hidden = functional.relu(self.dense2(hidden))
        return functional.cross_entropy(self.dense3(hidden), labels)


def named_parameters(module):
    """Give the parameters in the specification's names and layout.

    PyTorch keeps convolutions as (output, input, height, width), dense weights transposed, and flattens channels first.
    """
    named = {name.replace(".", "_"): value for name, value in module.named_parameters()}
    for name in ("conv1_weight", "conv2_weight"):
        named[name] = named[name].permute(2, 3, 1, 0)
    named["dense1_weight"] = named["dense1_weight"].reshape(120, 16, 5, 5).permute(2, 3, 1, 0).reshape(400, 120)
    for name in ("dense2_weight", "dense3_weight"):
        named[name] = named[name].t()
    return named


def load(module, parameters):
    """Copy the specification's parameters into the module, the inverse of ``named_parameters``."""
    state = dict(parameters)
    for name in ("conv1_weight", "conv2_weight"):
        state[name] = state[name].permute(3, 2, 0, 1)
    state["dense1_weight"] = state["dense1_weight"].reshape(5, 5, 16, 120).permute(3, 2, 0, 1).reshape(120, 400)
    for name in ("dense2_weight", "dense3_weight"):
        state[name] = state[name].t()
    module.load_state_dict({name.replace("_", "."): value for name, value in state.items()})


def build(size, parameters, batch, transform):
    module = LeNet().to(batch[0].device, batch[0].dtype)
    load(module, parameters)
    return module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
