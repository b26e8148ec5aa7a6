"""Makes steps of the layers and optimizers that come with JAX: example_libraries and jax.nn."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.example_libraries import optimizers, stax

RATE = 0.05


def step(workload, size, mode, batch):
    return {"mlp-train": perceptron, "lenet-train": lenet, "transformer-encoder": encoder}[workload](size, mode, batch)


def jitted(function, mode, **options):
    return jax.jit(function, **options) if mode == "jit" else function


def trained(network, mode, inputs, labels):
    """Train as JAX's own example of an MNIST classifier does."""
    initialise, predict = network
    _, parameters = initialise(jax.random.PRNGKey(0), inputs.shape)
    begin, apply, current = optimizers.sgd(RATE)

    def loss(parameters, inputs, labels):
        chosen = jnp.take_along_axis(predict(parameters, inputs), labels[:, None], axis=1)
        return -chosen.mean()

    def update(count, state, inputs, labels):
        value, gradients = jax.value_and_grad(loss)(current(state), inputs, labels)
        return apply(count, gradients, state), value

    transformed = jitted(update, mode, donate_argnums=1)
    state = [begin(parameters)]

    def step():
        state[0], value = transformed(0, state[0], inputs, labels)
        return {"loss": value}

    return step


def perceptron(size, mode, batch):
    hidden = [layer for _ in range(size["layers"]) for layer in (stax.Dense(size["hidden"]), stax.Relu)]
    return trained(stax.serial(*hidden, stax.Dense(size["classes"]), stax.LogSoftmax), mode, *batch)


def lenet(size, mode, batch):
    pool = stax.MaxPool((2, 2), (2, 2))
    network = stax.serial(
        stax.Conv(6, (5, 5)), stax.Relu, pool, stax.Conv(16, (5, 5)), stax.Relu, pool, stax.Flatten,
        stax.Dense(120), stax.Relu, stax.Dense(84), stax.Relu, stax.Dense(10), stax.LogSoftmax,
    )  # fmt: skip
    return trained(network, mode, *batch)


def encoder(size, mode, batch):
    """Stack blocks out of jax.nn: standardize, dot_product_attention and gelu."""
    width, heads = size["width"], size["heads"]

    def linear(inputs, outputs):
        weight = jax.random.normal(jax.random.PRNGKey(outputs), (inputs, outputs)) * inputs**-0.5
        return {"weight": weight, "bias": jnp.ones(outputs)}

    def norm():
        return {"scale": jnp.ones(width), "shift": jnp.ones(width)}

    block = {
        "norms": [norm(), norm()],
        "qkv": linear(width, 3 * width)["weight"],
        "output": linear(width, width),
        "expand": linear(width, 4 * width),
        "contract": linear(4 * width, width),
    }
    parameters = {"blocks": [jax.tree_util.tree_map(jnp.copy, block) for _ in range(size["layers"])], "last": norm()}

    def normal(layer, hidden):
        return jax.nn.standardize(hidden, epsilon=1e-5) * layer["scale"] + layer["shift"]

    def apply(layer, hidden):
        return hidden @ layer["weight"] + layer["bias"]

    def forward(parameters, hidden):
        count, sequence = hidden.shape[:2]
        for block in parameters["blocks"]:
            projected = normal(block["norms"][0], hidden) @ block["qkv"]
            parts = projected.reshape(count, sequence, 3, heads, width // heads)
            mixed = jax.nn.dot_product_attention(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2])
            hidden = hidden + apply(block["output"], mixed.reshape(count, sequence, width))
            wide = jax.nn.gelu(apply(block["expand"], normal(block["norms"][1], hidden)), approximate=False)
            hidden = hidden + apply(block["contract"], wide)
        return normal(parameters["last"], hidden)

    transformed = jitted(forward, mode)
    return lambda: {"hidden": transformed(parameters, *batch)}
