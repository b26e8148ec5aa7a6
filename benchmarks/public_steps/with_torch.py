"""Makes steps of PyTorch's own layers: torch.nn.Sequential, torch.optim and torch.nn.TransformerEncoder."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

RATE = 0.05


def step(workload, size, mode, batch):
    return {"mlp-train": perceptron, "lenet-train": lenet, "transformer-encoder": encoder}[workload](size, mode, batch)


def compiled(function, mode):
    return torch.compile(function) if mode == "compile" else function


def trained(network, mode, inputs, labels):
    """Train as the tutorials do; the loss is computed outside the network."""
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
    criterion = nn.CrossEntropyLoss()
    network = compiled(network.train(), mode)

    def step():
        optimizer.zero_grad()
        loss = criterion(network(inputs), labels)
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    return step


def perceptron(size, mode, batch):
    widths = [size["inputs"]] + [size["hidden"]] * size["layers"]
    hidden = [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())]
    return trained(nn.Sequential(*hidden, nn.Linear(widths[-1], size["classes"])), mode, *batch)


def lenet(size, mode, batch):
    network = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    images, labels = batch
    return trained(network, mode, images.permute(0, 3, 1, 2).contiguous(), labels)


def encoder(size, mode, batch):
    width = size["width"]
    layer = nn.TransformerEncoderLayer(
        width, size["heads"], 4 * width, activation="gelu", batch_first=True, norm_first=True
    )
    network = nn.TransformerEncoder(layer, size["layers"], norm=nn.LayerNorm(width), enable_nested_tensor=False)
    network = compiled(network.eval(), mode)

    def step():
        with torch.inference_mode():
            return {"hidden": network(*batch)}

    return step
