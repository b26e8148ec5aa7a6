"""Implements resnet18 in PyTorch: an nn.Module whose weights and images are channels_last."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import inference
from .. import batch_norm, resnet


class Unit(nn.Sequential):
    """A convolution and its batch normalisation."""

    def __init__(self, layer):
        super().__init__()
        padding = layer.kernel // 2
        self.convolution = nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, layer.stride, padding, bias=False)
        self.normal = nn.BatchNorm2d(layer.outputs, eps=batch_norm.EPSILON, momentum=batch_norm.MOMENTUM)
        self.name = layer.name


class Block(nn.Module):
    """A residual block, of two or of three convolutions."""

    def __init__(self, branch, shortcut):
        super().__init__()
        units = [Unit(layer) for layer in branch]
        rectified = [each for unit in units for each in (unit, nn.ReLU(inplace=True))]
        self.branch = nn.Sequential(*rectified[:-1])
        self.shortcut = nn.Identity() if shortcut is None else Unit(shortcut)

    def forward(self, hidden):
        kept = self.shortcut(hidden)
        hidden = self.branch(hidden)
        # In place, as torchvision does: the branch ends with a normalisation, whose gradient needs no output.
        hidden += kept
        return functional.relu(hidden, inplace=True)


class ResNet(nn.Module):
    """The network, from images (batch, side, side, 3) to logits."""

    def __init__(self, size):
        super().__init__()
        stem = resnet.stem(size)
        first = [Unit(stem), nn.ReLU(inplace=True)]
        if stem.stride == 2:
            first.append(nn.MaxPool2d(3, stride=2, padding=1))
        stages = [Block(branch, shortcut) for branch, shortcut in resnet.blocks(size)]
        self.features = nn.Sequential(*first, *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.dense = nn.Linear(resnet.features(size), size["classes"])
        self.layout = "NCHW, channels_last"

    def forward(self, images):
        return self.dense(self.features(images.permute(0, 3, 1, 2)))


def made(size, parameters):
    """Return the network with these parameters, and with the running statistics that are among them."""
    like = parameters["dense.bias"]
    network = ResNet(size).to(like.device, like.dtype, memory_format=torch.channels_last)
    with torch.no_grad():
        for name, value in named_values(network).items():
            if name in parameters:
                value.copy_(parameters[name])
    return network


def named_values(network):
    """Return parameters and running statistics in the specification's names and layout."""
    named = {"dense.weight": network.dense.weight.t(), "dense.bias": network.dense.bias}
    for unit in network.modules():
        if isinstance(unit, Unit):
            normal = unit.normal
            named[unit.name + ".weight"] = unit.convolution.weight.permute(2, 3, 1, 0)
            named[unit.name + ".scale"], named[unit.name + ".shift"] = normal.weight, normal.bias
            named[unit.name + ".mean"], named[unit.name + ".variance"] = normal.running_mean, normal.running_var
    return named


def build(size, parameters, batch, transform):
    return inference(made(size, parameters), transform, ("logits",))
