"""Makes runs of TensorFlow's functions, Keras' layers and optimizers, and the recipes in its guides."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from with_tensorflow import traced


def runs(workload, size, mode, batch, parameters):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none."""
    if workload in OPTIMIZERS:
        return {"keras": optimizer(OPTIMIZERS[workload](), mode, batch, parameters)}
    own = FUNCTIONS[workload](size, parameters) if workload in FUNCTIONS else {}
    if mode in ("xla", "xla-concrete"):
        own.pop(SEGMENTS, None)
    return {name: looped(traced(function, mode, batch)) for name, function in own.items()}


def looped(function):
    def run(batches):
        for batch in batches:
            outputs = function(*batch)
        return {"outputs": outputs}

    return run


def embedding_bag(size, parameters):
    table = tf.Variable(parameters["table"])
    layer = keras.layers.Embedding(size["words"], size["width"])
    layer.build((size["batch"], size["each"]))
    layer.set_weights([parameters["table"]])
    bags = tf.constant(np.repeat(np.arange(size["batch"], dtype=np.int32), size["each"]))
    return {
        SEGMENTS: lambda indices: tf.sparse.segment_sum(tf.convert_to_tensor(table), tf.reshape(indices, (-1,)), bags),
        "tf.nn.embedding_lookup": lambda indices: tf.reduce_sum(tf.nn.embedding_lookup(table, indices), 1),
        "keras.layers.Embedding": lambda indices: tf.reduce_sum(layer(indices), 1),
    }


def scatter_add(size, parameters):
    shape = size["groups"], size["width"]
    return {
        "tf.scatter_nd": lambda rows, groups: tf.scatter_nd(groups[:, None], rows, shape),
        "tf.tensor_scatter_nd_add": lambda rows, groups: tf.tensor_scatter_nd_add(
            tf.zeros(shape), groups[:, None], rows
        ),
    }


def batched_gemm(size, parameters):
    return {
        "tf.einsum": lambda left, right: tf.einsum("bij,bjk->bik", left, right),
        "keras.ops.matmul": keras.ops.matmul,
    }


def conv2d(size, parameters, depthwise=False):
    if depthwise:
        layer = keras.layers.DepthwiseConv2D(3, padding="same", use_bias=False)
    else:
        layer = keras.layers.Conv2D(size["channels"], 3, padding="same", use_bias=False)
    layer.build((size["batch"], size["side"], size["side"], size["channels"]))
    layer.set_weights([parameters["weight"][..., None] if depthwise else parameters["weight"]])
    return {"keras.layers": layer}


def draws(draw, size):
    return {"tf.random": lambda seed: draw((size["draws"],))}


def network(size, activation, parameters):
    hidden = [keras.layers.Dense(size["hidden"], activation=activation) for _ in range(size["layers"])]
    model = keras.Sequential([*hidden, keras.layers.Dense(size["classes"])])
    model.build((None, size["inputs"]))
    model.set_weights(list(parameters.values()))
    return model


def loss(model, inputs, labels):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(inputs, training=True))


def per_sample_gradients(size, parameters):
    """Differentiate as TensorFlow's guide does: the Jacobian of the losses; and a vectorized_map of gradients."""
    model = network(size, "relu", parameters)
    variables = [variable.value for variable in model.trainable_variables]

    def jacobian(inputs, labels):
        with tf.GradientTape() as tape:
            losses = loss(model, inputs, labels)
        return tape.jacobian(losses, variables)

    def gradient(row):
        with tf.GradientTape() as tape:
            value = loss(model, row[0][None], row[1][None])
        return tape.gradient(value, variables)

    return {"jacobian": jacobian, "vectorized_map": lambda *batch: tf.vectorized_map(gradient, batch)}


def hessian_vector(size, parameters):
    """Multiply as TensorFlow's guides do: a tape in a ForwardAccumulator, and a tape in a tape."""
    model = network(size, "tanh", parameters)
    variables = [variable.value for variable in model.trainable_variables]

    def forward_over_reverse(inputs, labels, *vectors):
        with tf.autodiff.ForwardAccumulator(variables, list(vectors)) as accumulator:
            with tf.GradientTape() as tape:
                value = tf.reduce_mean(loss(model, inputs, labels))
            gradients = tape.gradient(value, variables)
        return accumulator.jvp(gradients)

    def reverse_over_reverse(inputs, labels, *vectors):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                value = tf.reduce_mean(loss(model, inputs, labels))
            gradients = inner.gradient(value, variables)
        return outer.gradient(gradients, variables, output_gradients=list(vectors))

    return {"ForwardAccumulator": forward_over_reverse, "two tapes": reverse_over_reverse}


def optimizer(chosen, mode, batch, parameters):
    variables = [tf.Variable(value) for value in parameters.values()]
    chosen.build(variables)

    def update(loss, *gradients):
        chosen.apply(gradients, variables)
        return loss

    transformed = traced(update, mode, batch)

    def run(batches):
        for batch in batches:
            loss = transformed(*batch)
        return {"loss": loss, "outputs": variables}

    return run


#: A public kernel that neither XLA nor TensorFlow Lite has.
SEGMENTS = "tf.sparse.segment_sum"
#: Every kernel has the layout of the specification.
OUTPUTS = {}
FUNCTIONS = {
    "embedding-bag": embedding_bag, "scatter-add": scatter_add, "batched-gemm": batched_gemm, "conv2d": conv2d,
    "conv2d-depthwise": lambda size, parameters: conv2d(size, parameters, depthwise=True),
    "per-sample-gradients": per_sample_gradients, "hessian-vector": hessian_vector,
    "random-normal": lambda size, parameters: draws(tf.random.normal, size),
    "random-uniform": lambda size, parameters: draws(tf.random.uniform, size),
}  # fmt: skip
#: Keras adds epsilon before the bias correction, the specification adds 1e-8 after it. In the first step this is the
#: same; with Keras' own epsilon, 1e-7, the updates of small gradients differ by 7 %.
EPSILON = 1e-8 * (1 - 0.999) ** 0.5
OPTIMIZERS = {
    "optimizer-step-sgd": lambda: keras.optimizers.SGD(0.05, momentum=0.9),
    "optimizer-step-adam": lambda: keras.optimizers.Adam(1e-3, epsilon=EPSILON),
    "optimizer-step-adamw": lambda: keras.optimizers.AdamW(1e-3, weight_decay=0.1, epsilon=EPSILON),
}
