"""Makes steps of PyTorch's own layers: torch.nn.Sequential, torch.optim and torch.nn.TransformerEncoder.

With an input pipeline, the loop of the tutorials goes over a DataLoader.
"""

from __future__ import annotations

import functools
from itertools import pairwise

import lazy_torch
import torch
from pipelines_torch import pipelines
from repeated import Piped, holding
from torch import nn
from transforms_torch import FORMATS, fastest, functional, inferring, trainable

RATE = 0.05
#: {name: the ``foreach`` of an optimizer that is compiled}; the first is the default.
COMPILED_FORMS = {"optimizer compiled": None, "optimizer compiled, foreach": True}


def steps(workload, size, mode, batch, train=None):
    """Return ``{name: step}``; empty where there is none of the workload.

    ``train`` replaces the loop that trains, as Lightning does.
    """
    made = {
        "mlp-train": perceptron, "lenet-train": lenet, "catdog-cnn-train": catdog, "transformer-encoder": encoder,
        "transformer-train": language_model, "lstm-lm-train": recurrent,
    }.get(workload)  # fmt: skip
    if workload == "lenet-input" and train is None:
        return piped(lenet_layers(), mode, batch)
    return made(size, mode, batch, train or trained) if made else {}


def trained(network, mode, batch, kind=torch.optim.SGD, rate=RATE):
    """Train as the tutorials do; the loss is computed outside the network."""
    if mode in lazy_torch.LAZY:
        network.train()
        return lazy_torch.trained(network, nn.CrossEntropyLoss(), kind, rate, mode, batch)
    made = training(network, mode, tuple(batch[:-1]), kind, rate)
    return {name: holding(step, batch) for name, step in made.items()}


def piped(network, mode, order):
    """Train on what a DataLoader makes of the stored examples."""
    if mode in lazy_torch.LAZY:
        return {}
    sources = pipelines(order)
    images, _ = next(iter(sources["DataLoader"](1)))
    made = training(network, mode, (images,), torch.optim.SGD, RATE)
    return {
        f"{name}, {source}": Piped(step, pipeline)
        for source, pipeline in sources.items()
        for name, step in made.items()
    }


def training(network, mode, example, kind, rate):
    """Return ``{name: step}`` of the forms of the tutorials, ``step(*inputs, labels)``; ``example`` are inputs.

    With mode ``compile-step`` two tutorials' forms compete: the optimizer compiled beside the network, and all of the
    step under one torch.compile.
    """
    network.train()
    criterion = nn.CrossEntropyLoss()
    make = functools.partial(fastest, kind, network.parameters)
    if mode == "functorch":
        return {"functional_call": differentiated(functional(network, criterion), make(mode, lr=rate))}
    forward = trainable(network, mode, example)

    def stepping(optimizer, advance):
        def step(*batch):
            optimizer.zero_grad()
            loss = criterion(forward(*batch[:-1]).flatten(0, -2), batch[-1].flatten())
            loss.backward()
            advance()
            return {"loss": loss}

        return step

    if mode == "compile-optimizer":
        optimizers = {name: make(mode, lr=rate, foreach=foreach) for name, foreach in COMPILED_FORMS.items()}
        return {name: stepping(made, torch.compile(made.step)) for name, made in optimizers.items()}
    optimizer = make(mode, lr=torch.tensor(rate) if mode == "compile-step" else rate)
    if mode != "compile-step":
        return {"torch.nn": stepping(optimizer, optimizer.step)}

    def whole(*batch):
        loss = criterion(network(*batch[:-1]).flatten(0, -2), batch[-1].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    compiled = torch.compile(whole)
    return {
        "optimizer compiled": stepping(optimizer, torch.compile(optimizer.step)),
        "step compiled": lambda *batch: {"loss": compiled(*batch)},
    }


def differentiated(differentiate, optimizer):
    """Make the step whose gradients a functional transform computes, and whose optimizer is torch.optim's."""

    def step(*batch):
        loss = differentiate(*batch)
        optimizer.step()
        return {"loss": loss}

    return step


def perceptron(size, mode, batch, train):
    widths = [size["inputs"]] + [size["hidden"]] * size["layers"]
    hidden = [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())]
    return train(nn.Sequential(*hidden, nn.Linear(widths[-1], size["classes"])), mode, batch)


def lenet_layers():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def lenet(size, mode, batch, train):
    return imaged(lenet_layers(), mode, batch, train)


def catdog(size, mode, batch, train):
    filters = size["filters"]
    widths = (1, filters, 2 * filters, 4 * filters)
    blocks = [layer for pair in pairwise(widths) for layer in (nn.Conv2d(*pair, 5), nn.ReLU(), nn.MaxPool2d(2))]
    dense = [nn.Linear(4 * filters * 4, size["dense"]), nn.ReLU(), nn.Linear(size["dense"], 2)]
    return imaged(nn.Sequential(*blocks, nn.Flatten(), *dense), mode, batch, train, torch.optim.Adam, 1e-3)


def imaged(network, mode, batch, train, *optimizer):
    """Train on images of one channel, in channels_last where the mode says so, as PyTorch's tutorial of it does."""
    images, labels = batch
    # Not permuted: one channel looks like channels_last to PyTorch then, whatever contiguous() is asked for.
    images = images.contiguous().reshape(len(images), 1, *images.shape[1:3])
    if FORMATS.get(mode) == ("channels_last",):
        network, images = (value.to(memory_format=torch.channels_last) for value in (network, images))
    return train(network, mode, (images, labels), *optimizer)


def stack(size):
    width = size["width"]
    layer = nn.TransformerEncoderLayer(
        width, size["heads"], 4 * width, 0.0, activation="gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, size["layers"], norm=nn.LayerNorm(width), enable_nested_tensor=False)


def encoder(size, mode, batch, train):
    network = inferring(stack(size), mode, tuple(batch))
    without_gradients = lazy_torch.forward_only(mode)

    def step(*given):
        with without_gradients():
            hidden = network(*batch)
            # Under autocast torch.nn returns bfloat16. Whoever goes on in float32, as ours does, converts it.
            return {"hidden": hidden.float() if mode == "autocast" else hidden}

    return {"torch.nn": step}


class LanguageModel(nn.Module):
    """torch.nn's encoder with a causal mask, between an embedding and the projection that is tied to it."""

    def __init__(self, size):
        super().__init__()
        self.tokens = nn.Embedding(size["vocabulary"], size["width"])
        self.positions = nn.Parameter(torch.randn(size["sequence"], size["width"]))
        self.stack = stack(size)
        mask = torch.full((size["sequence"], size["sequence"]), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens):
        hidden = self.stack(self.tokens(tokens) + self.positions, self.mask)
        return nn.functional.linear(hidden, self.tokens.weight)


class Recurrent(nn.Module):
    """The model of PyTorch's example of a language model: torch.nn's embedding, LSTM and linear layer."""

    def __init__(self, size):
        super().__init__()
        width = size["width"]
        self.encoder = nn.Embedding(size["vocabulary"], width)
        self.recurrent = nn.LSTM(width, width, size["layers"], batch_first=True)
        self.decoder = nn.Linear(width, size["vocabulary"])

    def forward(self, tokens):
        return self.decoder(self.recurrent(self.encoder(tokens))[0])


def recurrent(size, mode, batch, train):
    return train(Recurrent(size), mode, batch, rate=1.0)


def language_model(size, mode, batch, train):
    return train(LanguageModel(size), mode, batch, torch.optim.Adam, 1e-3)
