"""Makes steps of Haiku's modules and optax' optimizers, as Haiku's examples of MNIST, a transformer and an RNN do.

Attention is Haiku's own, with biases.
"""

from __future__ import annotations

import haiku as hk
import jax
import optax
from modules_jax import inferred, trained

RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}``."""
    if workload == "transformer-encoder":
        return {"haiku": inferred(pure(lambda hidden: stack(size, hidden, causal=False)), mode, batch)}
    if workload == "lstm-lm-train":
        return recurrent(size, mode, [array.T for array in batch])
    predict, optimizer = {
        "mlp-train": lambda: (lambda rows: perceptron(size, rows), optax.sgd(RATE)),
        "lenet-train": lambda: (lambda images: convolutional((6, 16), (120, 84), 10, images), optax.sgd(RATE)),
        "catdog-cnn-train": lambda: (lambda images: catdog(size, images), optax.adam(1e-3)),
        "transformer-train": lambda: (lambda tokens: language_model(size, tokens), optax.adam(1e-3)),
    }[workload]()
    return {"haiku": trained(pure(predict), optimizer, mode, batch)}


def pure(predict):
    """Return a module with ``init`` and ``apply``, without random numbers."""
    return hk.without_apply_rng(hk.transform(predict))


def perceptron(size, rows):
    return hk.nets.MLP([size["hidden"]] * size["layers"] + [size["classes"]])(rows)


def convolutional(filters, dense, classes, hidden):
    for count in filters:
        hidden = hk.max_pool(jax.nn.relu(hk.Conv2D(count, 5, padding="VALID")(hidden)), 2, 2, "VALID", -1)
    return hk.nets.MLP([*dense, classes])(hk.Flatten()(hidden))


def catdog(size, images):
    return convolutional([size["filters"] * factor for factor in (1, 2, 4)], (size["dense"],), 2, images)


def recurrent(size, mode, batch):
    """Train on sequences with the time first, as the example of an RNN does, in one loop or in one for each layer."""

    def unrolled(tokens, cores):
        hidden = hk.Embed(size["vocabulary"], size["width"])(tokens)
        for core in cores:
            hidden, _ = hk.dynamic_unroll(core, hidden, core.initial_state(size["batch"]))
        return hk.BatchApply(hk.Linear(size["vocabulary"]))(hidden)

    def layers():
        return [hk.LSTM(size["width"]) for _ in range(size["layers"])]

    models = {
        "haiku, DeepRNN": lambda tokens: unrolled(tokens, [hk.DeepRNN(layers())]),
        "haiku, layer by layer": lambda tokens: unrolled(tokens, layers()),
    }
    return {name: trained(pure(model), optax.sgd(1.0), mode, batch) for name, model in models.items()}


def norm(hidden):
    return hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(hidden)


def stack(size, hidden, causal):
    heads, width, sequence = size["heads"], size["width"], hidden.shape[1]
    mask = jax.numpy.tril(jax.numpy.ones((1, 1, sequence, sequence))) if causal else None
    start = hk.initializers.VarianceScaling(2 / size["layers"])
    for _ in range(size["layers"]):
        normal = norm(hidden)
        attend = hk.MultiHeadAttention(heads, width // heads, model_size=width, w_init=start)
        hidden = hidden + attend(normal, normal, normal, mask=mask)
        wide = jax.nn.gelu(hk.Linear(4 * width, w_init=start)(norm(hidden)), approximate=False)
        hidden = hidden + hk.Linear(width, w_init=start)(wide)
    return norm(hidden)


def language_model(size, tokens):
    embed = hk.Embed(size["vocabulary"], size["width"])
    shape = size["sequence"], size["width"]
    positions = hk.get_parameter("positions", shape, init=hk.initializers.TruncatedNormal(0.02))
    return stack(size, embed(tokens) + positions, causal=True) @ embed.embeddings.T
