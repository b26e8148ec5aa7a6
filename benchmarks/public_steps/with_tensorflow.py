"""Makes steps of Keras layers and optimizers in a custom training loop."""

from __future__ import annotations

import keras
import tensorflow as tf

RATE = 0.05


def step(workload, size, mode, batch):
    return {"mlp-train": perceptron, "lenet-train": lenet, "transformer-encoder": encoder}[workload](size, mode, batch)


def traced(function, mode):
    return function if mode == "eager" else tf.function(function, jit_compile=mode == "xla")


def trained(model, mode, inputs, labels):
    """Train as Keras' guide to custom training loops does."""
    optimizer = keras.optimizers.SGD(RATE)
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.build(inputs.shape)
    optimizer.build(model.trainable_variables)

    def update(inputs, labels):
        with tf.GradientTape() as tape:
            loss = criterion(labels, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    transformed = traced(update, mode)
    return lambda: {"loss": transformed(inputs, labels)}


def perceptron(size, mode, batch):
    hidden = [keras.layers.Dense(size["hidden"], activation="relu") for _ in range(size["layers"])]
    return trained(keras.Sequential([*hidden, keras.layers.Dense(size["classes"])]), mode, *batch)


def lenet(size, mode, batch):
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2D(6, 5, activation="relu"), layers.MaxPooling2D(2),
            layers.Conv2D(16, 5, activation="relu"), layers.MaxPooling2D(2), layers.Flatten(),
            layers.Dense(120, activation="relu"), layers.Dense(84, activation="relu"), layers.Dense(10),
        ]
    )  # fmt: skip
    return trained(model, mode, *batch)


def encoder(size, mode, batch):
    layers, width, heads = keras.layers, size["width"], size["heads"]
    inputs = keras.Input(batch_shape=batch[0].shape)
    hidden = inputs
    for _ in range(size["layers"]):
        normal = layers.LayerNormalization(epsilon=1e-5)(hidden)
        hidden = hidden + layers.MultiHeadAttention(heads, width // heads)(normal, normal)
        wide = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization(epsilon=1e-5)(hidden))
        hidden = hidden + layers.Dense(width)(wide)
    model = keras.Model(inputs, layers.LayerNormalization(epsilon=1e-5)(hidden))
    transformed = traced(lambda values: model(values, training=False), mode)
    return lambda: {"hidden": transformed(*batch)}
