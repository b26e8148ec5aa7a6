"""Makes steps of the layers and optimizers that come with JAX, and of flax and optax where flax is installed."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax.example_libraries import optimizers, stax
from pipelines_jax import pipelines
from repeated import Piped
from transforms_jax import advancing, jitted, training

try:
    import with_flax
except ImportError:
    with_flax = None

RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}``."""
    if workload == "lenet-input":
        return piped(mode, batch)
    found = {}
    if workload in OWN:
        found["example_libraries"] = OWN[workload](size, mode, batch)
    if with_flax is not None:
        found["flax"] = with_flax.step(workload, size, mode, batch)
    return found


def trained(network, mode, batch, optimizer):
    return training(*learning(network, batch[0].shape, optimizer), mode, batch)


def learning(network, shape, optimizer):
    """Return ``update`` and its first state, as in JAX's own example of an MNIST classifier."""
    initialise, predict = network
    _, parameters = initialise(jax.random.PRNGKey(0), shape)
    begin, apply, current = optimizer

    def loss(parameters, inputs, labels):
        chosen = jnp.take_along_axis(predict(parameters, inputs), labels[..., None], axis=-1)
        return -chosen.mean()

    def update(state, inputs, labels):
        value, gradients = jax.value_and_grad(loss)(current(state), inputs, labels)
        return apply(0, gradients, state), value

    return update, begin(parameters)


def piped(mode, order):
    """Train on what Grain makes of the stored examples, with the network of ``lenet``."""
    found = {}
    for name, pipeline in pipelines(order).items():
        example = next(iter(pipeline(1)))
        step = advancing(*learning(lenet_layers(), example[0].shape, optimizers.sgd(RATE)), mode, example)
        found["example_libraries, " + name] = Piped(step, pipeline)
    return found


def perceptron(size, mode, batch):
    hidden = [layer for _ in range(size["layers"]) for layer in (stax.Dense(size["hidden"]), stax.Relu)]
    network = stax.serial(*hidden, stax.Dense(size["classes"]), stax.LogSoftmax)
    return trained(network, mode, batch, optimizers.sgd(RATE))


def convolutions(*filters):
    pool = stax.MaxPool((2, 2), (2, 2))
    return [layer for count in filters for layer in (stax.Conv(count, (5, 5)), stax.Relu, pool)]


def lenet_layers():
    dense = [stax.Dense(120), stax.Relu, stax.Dense(84), stax.Relu, stax.Dense(10), stax.LogSoftmax]
    return stax.serial(*convolutions(6, 16), stax.Flatten, *dense)


def lenet(size, mode, batch):
    return trained(lenet_layers(), mode, batch, optimizers.sgd(RATE))


def catdog(size, mode, batch):
    filters = size["filters"]
    dense = [stax.Dense(size["dense"]), stax.Relu, stax.Dense(2), stax.LogSoftmax]
    network = stax.serial(*convolutions(filters, 2 * filters, 4 * filters), stax.Flatten, *dense)
    return trained(network, mode, batch, optimizers.adam(1e-3))


def stack(size):
    """Return the parameters of pre-norm blocks, and a function of them and a hidden state, out of jax.nn."""
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

    def forward(parameters, hidden, causal):
        count, sequence = hidden.shape[:2]
        for block in parameters["blocks"]:
            projected = normal(block["norms"][0], hidden) @ block["qkv"]
            parts = projected.reshape(count, sequence, 3, heads, width // heads)
            mixed = jax.nn.dot_product_attention(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2], is_causal=causal)
            hidden = hidden + apply(block["output"], mixed.reshape(count, sequence, width))
            wide = jax.nn.gelu(apply(block["expand"], normal(block["norms"][1], hidden)), approximate=False)
            hidden = hidden + apply(block["contract"], wide)
        return normal(parameters["last"], hidden)

    return parameters, forward


def encoder(size, mode, batch):
    parameters, forward = stack(size)
    function = functools.partial(forward, causal=False)
    transformed = jitted(function, mode, (parameters, *batch))
    return lambda *given: {"hidden": transformed(parameters, *batch)}


def language_model(size, mode, batch, optimizer=None):
    parameters, forward = stack(size)
    draw = jax.random.normal
    parameters["tokens"] = draw(jax.random.PRNGKey(1), (size["vocabulary"], size["width"])) * size["width"] ** -0.5
    parameters["positions"] = draw(jax.random.PRNGKey(2), (size["sequence"], size["width"]))

    def predict(parameters, tokens):
        table = parameters["tokens"]
        return jax.nn.log_softmax(forward(parameters, table[tokens] + parameters["positions"], True) @ table.T)

    return trained((lambda key, shape: (None, parameters), predict), mode, batch, optimizer or optimizers.adam(1e-3))


OWN = {
    "mlp-train": perceptron, "lenet-train": lenet, "catdog-cnn-train": catdog, "transformer-encoder": encoder,
    "transformer-train": language_model,
}  # fmt: skip
