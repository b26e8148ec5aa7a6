"""Makes runs of networks of flax' layers as its examples have them, and of jax.nn, in the shapes of ours.

The residual network is that of flax' example imagenet, with PyTorch's epsilon and momentum; its running variance is not
unbiased, as flax has it. Decoding is that of the example lm1b: flax' attention with its own cache, token after token,
the prompt too. flax' attention has biases that ours lacks.
"""

from __future__ import annotations

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import with_flax
from jax import lax
from repeated import repeated
from transforms_jax import jitted, training
from with_jax import language_model

from bench.workloads import batch_norm, resnet
from bench.workloads.gpt_train import OPTIMIZER as ADAMW
from bench.workloads.resnet18_train import OPTIMIZER as SGD


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    return {name: repeated(step) for name, step in MODELS[workload](size, mode, batch).items()}


class Block(nn.Module):
    """A block of two convolutions, or of three with a bottleneck."""

    filters: int
    stride: int
    bottleneck: bool
    train: bool

    @nn.compact
    def __call__(self, inputs):
        convolve = functools.partial(nn.Conv, use_bias=False)
        norm = functools.partial(
            nn.BatchNorm, not self.train, momentum=1 - batch_norm.MOMENTUM, epsilon=batch_norm.EPSILON
        )
        strides, edge = (self.stride,) * 2, [(1, 1)] * 2
        if self.bottleneck:
            hidden = nn.relu(norm()(convolve(self.filters, (1, 1))(inputs)))
            hidden = nn.relu(norm()(convolve(self.filters, (3, 3), strides, padding=edge)(hidden)))
            hidden = norm()(convolve(self.filters * resnet.EXPANSION, (1, 1))(hidden))
        else:
            hidden = nn.relu(norm()(convolve(self.filters, (3, 3), strides, padding=edge)(inputs)))
            hidden = norm()(convolve(self.filters, (3, 3), padding=edge)(hidden))
        if inputs.shape != hidden.shape:
            inputs = norm()(convolve(hidden.shape[-1], (1, 1), strides)(inputs))
        return nn.relu(inputs + hidden)


class ResNet(nn.Module):
    """The network of the example imagenet, with the stem of a size."""

    size: dict
    train: bool

    @nn.compact
    def __call__(self, images):
        size, (bottleneck, repeats) = self.size, resnet.NETWORKS[self.size["depth"]]
        stem = resnet.stem(size)
        edge = [(stem.kernel // 2,) * 2] * 2
        hidden = nn.Conv(size["width"], (stem.kernel,) * 2, (stem.stride,) * 2, padding=edge, use_bias=False)(images)
        norm = nn.BatchNorm(not self.train, momentum=1 - batch_norm.MOMENTUM, epsilon=batch_norm.EPSILON)
        hidden = nn.relu(norm(hidden))
        if stem.stride == 2:
            hidden = nn.max_pool(hidden, (3, 3), strides=(2, 2), padding=[(1, 1)] * 2)
        for stage, count in enumerate(repeats):
            for index in range(count):
                stride = 2 if stage and not index else 1
                hidden = Block(size["width"] * 2**stage, stride, bottleneck, self.train)(hidden)
        return nn.Dense(size["classes"])(hidden.mean(axis=(1, 2)))


def classify(size, mode, batch):
    return {"flax, as in imagenet": with_flax.inferred(ResNet(size, train=False), mode, batch)}


def train_images(size, mode, batch):
    network = ResNet(size, train=True)
    variables = network.init(jax.random.PRNGKey(0), batch[0])
    optimizer = optax.sgd(SGD["learning_rate"], momentum=SGD["momentum"])

    def update(state, images, labels):
        parameters, kept, memory = state

        def loss(parameters):
            logits, new = network.apply({"params": parameters, "batch_stats": kept}, images, mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new["batch_stats"]

        (value, new), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        updates, memory = optimizer.update(gradients, memory, parameters)
        return (optax.apply_updates(parameters, updates), new, memory), value

    state = variables["params"], variables["batch_stats"], optimizer.init(variables["params"])
    return {"flax, as in imagenet": training(update, state, mode, batch)}


def predict(size, mode, batch):
    return {"flax": with_flax.inferred(with_flax.LanguageModel(size), mode, batch)}


def train_language(size, mode, batch):
    adamw = optax.adamw(
        ADAMW["learning_rate"], b1=ADAMW["beta1"], b2=ADAMW["beta2"], weight_decay=ADAMW["weight_decay"]
    )
    return {
        "flax": with_flax.trained(with_flax.LanguageModel(size), adamw, mode, batch),
        "jax.nn, optax": language_model(size, mode, batch, triple(adamw)),
    }


def triple(transformation):
    """Return an optimizer of optax in the form of those of jax.example_libraries."""

    def apply(count, gradients, state):
        parameters, memory = state
        updates, memory = transformation.update(gradients, memory, parameters)
        return optax.apply_updates(parameters, updates), memory

    return (lambda parameters: (parameters, transformation.init(parameters))), apply, lambda state: state[0]


class Decoder(nn.Module):
    """The language model that reads a token at a time and keeps keys and values; at first, the whole sequence."""

    size: dict

    @nn.compact
    def __call__(self, tokens, start):
        size = self.size
        embedding = nn.Embed(size["vocabulary"], size["width"])
        positions = self.param("positions", nn.initializers.normal(), (size["sequence"], size["width"]))
        hidden = embedding(tokens) + lax.dynamic_slice_in_dim(positions, start, tokens.shape[1])
        for _ in range(size["layers"]):
            normal = nn.LayerNorm(epsilon=1e-5)(hidden)
            hidden = hidden + nn.MultiHeadDotProductAttention(size["heads"], decode=True)(normal, normal)
            wide = nn.gelu(nn.Dense(4 * size["width"])(nn.LayerNorm(epsilon=1e-5)(hidden)), approximate=False)
            hidden = hidden + nn.Dense(size["width"])(wide)
        return embedding.attend(nn.LayerNorm(epsilon=1e-5)(hidden))


def decode(size, mode, batch):
    (tokens,) = batch
    network = Decoder(size)
    variables = network.init(jax.random.PRNGKey(0), tokens, 0)

    def decoded(variables, tokens):
        def advance(cache, given):
            token, start = given
            given = {"params": variables["params"], "cache": cache}
            logits, new = network.apply(given, token[:, None], start, mutable=["cache"])
            return new["cache"], logits[:, 0]

        _, logits = lax.scan(advance, variables["cache"], (tokens.T, jnp.arange(tokens.shape[1])))
        return logits[size["prompt"] - 1 :].swapaxes(0, 1)

    transformed = jitted(decoded, mode, (variables, tokens))
    return {"flax, as in lm1b": lambda: {"outputs": transformed(variables, tokens)}}


MODELS = {
    "resnet18": classify, "resnet50": classify, "resnet18-train": train_images, "resnet50-train": train_images,
    "gpt": predict, "gpt-train": train_language, "kv-decode": decode,
}  # fmt: skip
