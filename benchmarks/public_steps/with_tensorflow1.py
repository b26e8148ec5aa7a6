"""Makes steps of graphs as TensorFlow 1.x' tutorials have them: placeholders, an optimizer of tf.train, ``run``.

They are built of tf.layers, where this version has it, and of variables and tf.nn, as in "Deep MNIST for experts" and
in the collection TensorFlow-Examples. TensorFlow 2 with Keras 3 has no tf.layers. The session is fed in every step, or
holds its call, as ``make_callable`` of its documentation does. It runs on Python 3.7, which TensorFlow 1.x needs.
"""

from __future__ import annotations

import os

import numpy as np
import tensorflow.compat.v1 as tf

THREADS = int(os.environ["OMP_NUM_THREADS"])
RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}``; empty where there is none of the workload."""
    made = {
        "mlp-train": perceptron, "lenet-train": lenet, "catdog-cnn-train": catdog, "transformer-encoder": encoder,
        "transformer-train": language_model,
    }.get(workload)  # fmt: skip
    return made(size, batch) if made else {}


def trained(forms, batch, optimizer=lambda: tf.train.GradientDescentOptimizer(RATE)):
    """Train a network in each of its forms, ``{name: function of the inputs that gives logits}``."""
    found = {}
    for name, network in forms.items():
        graph = tf.Graph()
        with graph.as_default():
            inputs, labels = placeholders(batch)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=network(inputs))
            loss = tf.reduce_mean(losses)
            update = optimizer().minimize(loss)
            found.update(running(name, (inputs, labels), batch, {"loss": loss, "update": update}, "loss"))
    return found


def placeholders(batch):
    return [tf.placeholder(tf.as_dtype(array.dtype), array.shape) for array in batch]


def running(name, given, batch, fetched, output):
    """Start a session for the graph; ``given`` are its placeholders."""
    configuration = tf.ConfigProto(intra_op_parallelism_threads=THREADS, inter_op_parallelism_threads=THREADS)
    session = tf.Session(config=configuration)
    session.run(tf.global_variables_initializer())
    feed = dict(zip(given, batch))
    held = session.make_callable(fetched, feed_list=list(given))
    return {
        name: lambda *_: {output: session.run(fetched, feed_dict=feed)[output]},
        name + ", make_callable": lambda *_: {output: held(*batch)[output]},
    }


def weight(*shape):
    """Draw weights that keep values as large as ours are: the time of TensorFlow 1.x' erf depends on them."""
    return tf.Variable(tf.random_normal(shape, stddev=float(np.prod(shape[:-1])) ** -0.5))


def bias(width):
    return tf.Variable(tf.constant(0.1, shape=[width]))


def dense(hidden, width):
    return tf.matmul(hidden, weight(int(hidden.shape[-1]), width)) + bias(width)


def layered(layers):
    """Return {name: network of tf.layers}, where this version has them."""
    return {"tf.layers": layers(tf.layers)} if hasattr(tf.layers, "dense") else {}


def perceptron(size, batch):
    def with_variables(hidden):
        for _ in range(size["layers"]):
            hidden = tf.nn.relu(dense(hidden, size["hidden"]))
        return dense(hidden, size["classes"])

    def with_layers(layers):
        def network(hidden):
            for _ in range(size["layers"]):
                hidden = layers.dense(hidden, size["hidden"], activation=tf.nn.relu)
            return layers.dense(hidden, size["classes"])

        return network

    return trained({"variables": with_variables, **layered(with_layers)}, batch)


def convolutional(filters, widths, classes):
    """Return both forms of a network of convolutions of 5 by 5, each with a pooling, and dense layers."""

    def with_variables(hidden):
        for count in filters:
            convolved = tf.nn.conv2d(hidden, weight(5, 5, int(hidden.shape[-1]), count), [1, 1, 1, 1], "VALID")
            hidden = tf.nn.max_pool(tf.nn.relu(convolved + bias(count)), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        hidden = tf.reshape(hidden, [-1, int(np.prod(hidden.shape[1:]))])
        for width in widths:
            hidden = tf.nn.relu(dense(hidden, width))
        return dense(hidden, classes)

    def with_layers(layers):
        def network(hidden):
            for count in filters:
                hidden = layers.max_pooling2d(layers.conv2d(hidden, count, 5, activation=tf.nn.relu), 2, 2)
            hidden = layers.flatten(hidden)
            for width in widths:
                hidden = layers.dense(hidden, width, activation=tf.nn.relu)
            return layers.dense(hidden, classes)

        return network

    return {"variables": with_variables, **layered(with_layers)}


def lenet(size, batch):
    return trained(convolutional((6, 16), (120, 84), 10), batch)


def adam():
    return tf.train.AdamOptimizer(1e-3)


def catdog(size, batch):
    filters = [size["filters"] * factor for factor in (1, 2, 4)]
    return trained(convolutional(filters, (size["dense"],), 2), batch, adam)


def normal(hidden):
    """Normalise the last axis, as the Transformer of TensorFlow's official models does."""
    mean = tf.reduce_mean(hidden, axis=[-1], keepdims=True)
    variance = tf.reduce_mean(tf.square(hidden - mean), axis=[-1], keepdims=True)
    width = int(hidden.shape[-1])
    scale, shift = tf.Variable(tf.ones([width])), tf.Variable(tf.zeros([width]))
    return (hidden - mean) * tf.rsqrt(variance + 1e-5) * scale + shift


def stack(size, hidden, mask=None):
    """Map hidden, two axes of which are batch and width, through blocks like GPT-2's released ones."""
    width, heads, sequence = size["width"], size["heads"], size["sequence"]
    for _ in range(size["layers"]):
        projected = tf.matmul(normal(hidden), weight(width, 3 * width))
        parts = tf.reshape(projected, [-1, sequence, 3, heads, width // heads])
        queries, keys, values = tf.unstack(tf.transpose(parts, [0, 2, 3, 1, 4]), axis=1)
        scores = tf.matmul(queries, keys, transpose_b=True) * (width // heads) ** -0.5
        if mask is not None:
            scores = scores * mask - 1e10 * (1 - mask)
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), values), [0, 2, 1, 3])
        hidden = hidden + dense(tf.reshape(mixed, [-1, width]), width)
        wide = dense(normal(hidden), 4 * width)
        hidden = hidden + dense(0.5 * wide * (1.0 + tf.erf(wide * 0.5**0.5)), width)
    return normal(hidden)


def encoder(size, batch):
    graph = tf.Graph()
    with graph.as_default():
        (inputs,) = placeholders(batch)
        hidden = tf.reshape(stack(size, tf.reshape(inputs, [-1, size["width"]])), inputs.shape)
        return running("variables", (inputs,), batch, {"hidden": hidden}, "hidden")


def language_model(size, batch):
    def network(tokens):
        table = weight(size["vocabulary"], size["width"])
        hidden = tf.gather(table, tokens) + weight(size["sequence"], size["width"])
        mask = tf.constant(np.tril(np.ones([size["sequence"]] * 2, np.float32)))
        logits = tf.matmul(stack(size, tf.reshape(hidden, [-1, size["width"]]), mask), table, transpose_b=True)
        return tf.reshape(logits, [-1, size["sequence"], size["vocabulary"]])

    return trained({"variables": network}, batch, adam)
