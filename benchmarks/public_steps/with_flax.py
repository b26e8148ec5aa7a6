"""Makes steps of flax's layers and optax' optimizers, as flax's examples do."""

from __future__ import annotations

import flax.linen as nn
import optax
import with_nnx
from modules_jax import inferred, trained

RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}`` in one of flax' modes: linen, or those of nnx."""
    if mode != "linen":
        return with_nnx.steps(workload, size, mode, batch)
    return {"flax, linen": step(workload, size, mode, batch)}


def step(workload, size, mode, batch):
    if workload == "transformer-encoder":
        return inferred(Stack(size, causal=False), mode, batch)
    network, optimizer = {
        "mlp-train": lambda: (perceptron(size), optax.sgd(RATE)),
        "lenet-train": lambda: (convolutional((6, 16), (120, 84), 10), optax.sgd(RATE)),
        "catdog-cnn-train": lambda: (
            convolutional([size["filters"] * factor for factor in (1, 2, 4)], (size["dense"],), 2),
            optax.adam(1e-3),
        ),
        "transformer-train": lambda: (LanguageModel(size), optax.adam(1e-3)),
        "lstm-lm-train": lambda: (recurrent(size), optax.sgd(1.0)),
    }[workload]()
    return trained(network, optimizer, mode, batch)


def flatten(hidden):
    return hidden.reshape(len(hidden), -1)


def pool(hidden):
    return nn.max_pool(hidden, (2, 2), (2, 2))


def perceptron(size):
    hidden = [layer for _ in range(size["layers"]) for layer in (nn.Dense(size["hidden"]), nn.relu)]
    return nn.Sequential([*hidden, nn.Dense(size["classes"])])


def convolutional(filters, dense, classes):
    blocks = [layer for count in filters for layer in (nn.Conv(count, (5, 5), padding="VALID"), nn.relu, pool)]
    hidden = [layer for count in dense for layer in (nn.Dense(count), nn.relu)]
    return nn.Sequential([*blocks, flatten, *hidden, nn.Dense(classes)])


def recurrent(size):
    layers = [nn.RNN(nn.OptimizedLSTMCell(size["width"])) for _ in range(size["layers"])]
    return nn.Sequential([nn.Embed(size["vocabulary"], size["width"]), *layers, nn.Dense(size["vocabulary"])])


class Stack(nn.Module):
    """Pre-norm blocks of flax's own attention."""

    size: dict
    causal: bool

    @nn.compact
    def __call__(self, hidden):
        mask = nn.make_causal_mask(hidden[..., 0]) if self.causal else None
        for _ in range(self.size["layers"]):
            normal = nn.LayerNorm(epsilon=1e-5)(hidden)
            hidden = hidden + nn.MultiHeadDotProductAttention(self.size["heads"])(normal, normal, mask=mask)
            wide = nn.gelu(nn.Dense(4 * self.size["width"])(nn.LayerNorm(epsilon=1e-5)(hidden)), approximate=False)
            hidden = hidden + nn.Dense(self.size["width"])(wide)
        return nn.LayerNorm(epsilon=1e-5)(hidden)


class LanguageModel(nn.Module):
    """The stack between an embedding and the projection that is tied to it."""

    size: dict

    @nn.compact
    def __call__(self, tokens):
        embedding = nn.Embed(self.size["vocabulary"], self.size["width"])
        positions = self.param("positions", nn.initializers.normal(), (self.size["sequence"], self.size["width"]))
        return embedding.attend(Stack(self.size, causal=True)(embedding(tokens) + positions))
