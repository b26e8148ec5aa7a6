"""Makes steps of flax.nnx as its tutorials do: models, nnx.Optimizer and nnx.jit; and as its guide to performance does.

The guide splits models into a definition and a state, which jax.jit takes. Attention is flax' own, with biases.
"""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
import optax
from flax import nnx

RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}``; ``mode`` is nnx or nnx-functional."""
    rngs = nnx.Rngs(0)
    if workload == "transformer-encoder":
        return {"flax.nnx": inferred(Stack(size, False, rngs), mode, batch)}
    model, optimizer = {
        "mlp-train": lambda: (perceptron(size, rngs), optax.sgd(RATE)),
        "lenet-train": lambda: (convolutional(batch, (6, 16), (120, 84), 10, rngs), optax.sgd(RATE)),
        "catdog-cnn-train": lambda: (
            convolutional(batch, [size["filters"] * factor for factor in (1, 2, 4)], (size["dense"],), 2, rngs),
            optax.adam(1e-3),
        ),
        "transformer-train": lambda: (LanguageModel(size, rngs), optax.adam(1e-3)),
        "lstm-lm-train": lambda: (recurrent(size, rngs), optax.sgd(1.0)),
    }[workload]()
    return {"flax.nnx": trained(model, nnx.Optimizer(model, optimizer, wrt=nnx.Param), mode, batch)}


def trained(model, optimizer, mode, batch):
    def update(model, optimizer, inputs, labels):
        def loss(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(inputs), labels).mean()

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return value

    if mode == "nnx":
        transformed = nnx.jit(update, donate_argnums=(0, 1))
        return lambda *given: {"loss": transformed(model, optimizer, *batch)}
    definition, state = nnx.split((model, optimizer))

    def functional(state, inputs, labels):
        merged = nnx.merge(definition, state)
        value = update(*merged, inputs, labels)
        return nnx.state(merged), value

    transformed = jax.jit(functional, donate_argnums=0)
    current = [jax.tree_util.tree_map(jnp.copy, state)]

    def step(*given):
        current[0], value = transformed(current[0], *batch)
        return {"loss": value}

    return step


def inferred(model, mode, batch):
    if mode == "nnx":
        transformed = nnx.jit(lambda model, inputs: model(inputs))
        return lambda *given: {"hidden": transformed(model, *batch)}
    definition, state = nnx.split(model)
    transformed = jax.jit(lambda state, inputs: nnx.merge(definition, state)(inputs))
    return lambda *given: {"hidden": transformed(state, *batch)}


def perceptron(size, rngs):
    widths = [size["inputs"]] + [size["hidden"]] * size["layers"]
    hidden = [layer for pair in pairwise(widths) for layer in (nnx.Linear(*pair, rngs=rngs), nnx.relu)]
    return nnx.Sequential(*hidden, nnx.Linear(widths[-1], size["classes"], rngs=rngs))


def pool(hidden):
    return nnx.max_pool(hidden, (2, 2), (2, 2))


def convolutional(batch, filters, dense, classes, rngs):
    side, widths, layers = batch[0].shape[1], [1, *filters], []
    for pair in pairwise(widths):
        layers += [nnx.Conv(*pair, (5, 5), padding="VALID", rngs=rngs), nnx.relu, pool]
        side = (side - 4) // 2
    layers.append(lambda hidden: hidden.reshape(len(hidden), -1))
    widths = [side * side * filters[-1], *dense]
    for pair in pairwise(widths):
        layers += [nnx.Linear(*pair, rngs=rngs), nnx.relu]
    return nnx.Sequential(*layers, nnx.Linear(widths[-1], classes, rngs=rngs))


def recurrent(size, rngs):
    width, vocabulary = size["width"], size["vocabulary"]
    layers = [nnx.RNN(nnx.OptimizedLSTMCell(width, width, rngs=rngs)) for _ in range(size["layers"])]
    return nnx.Sequential(nnx.Embed(vocabulary, width, rngs=rngs), *layers, nnx.Linear(width, vocabulary, rngs=rngs))


class Block(nnx.Module):
    """A pre-norm block of flax' own attention."""

    def __init__(self, size, causal, rngs):
        width = size["width"]
        self.causal = causal
        self.first, self.second = (nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs) for _ in range(2))
        self.attend = nnx.MultiHeadAttention(size["heads"], width, decode=False, rngs=rngs)
        self.expand = nnx.Linear(width, 4 * width, rngs=rngs)
        self.contract = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, hidden):
        mask = nnx.make_causal_mask(hidden[..., 0]) if self.causal else None
        hidden = hidden + self.attend(self.first(hidden), mask=mask)
        return hidden + self.contract(nnx.gelu(self.expand(self.second(hidden)), approximate=False))


class Stack(nnx.Module):
    def __init__(self, size, causal, rngs):
        self.blocks = nnx.Sequential(*(Block(size, causal, rngs) for _ in range(size["layers"])))
        self.last = nnx.LayerNorm(size["width"], epsilon=1e-5, rngs=rngs)

    def __call__(self, hidden):
        return self.last(self.blocks(hidden))


class LanguageModel(nnx.Module):
    """The stack between an embedding and the projection that is tied to it."""

    def __init__(self, size, rngs):
        self.tokens = nnx.Embed(size["vocabulary"], size["width"], rngs=rngs)
        self.positions = nnx.Param(jax.random.normal(rngs.params(), (size["sequence"], size["width"])))
        self.stack = Stack(size, True, rngs)

    def __call__(self, tokens):
        return self.tokens.attend(self.stack(self.tokens(tokens) + self.positions[...]))
