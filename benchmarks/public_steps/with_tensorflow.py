"""Makes steps of Keras layers and optimizers: in a custom training loop, and in Keras' own train_on_batch.

``train`` replaces both where Keras' own loops train the same networks. With an input pipeline, loops go over tf.data.
"""

from __future__ import annotations

import functools

import keras
import numpy as np
from repeated import Piped, holding

if not hasattr(keras, "ops"):
    # Until 2.13, ``keras`` itself has the older optimizers.
    from tensorflow import keras

RATE = 0.05


def steps(workload, size, mode, batch):
    """Return ``{name: step}``; empty where there is none of the workload."""
    made = {
        "mlp-train": perceptron, "lenet-train": lenet, "catdog-cnn-train": catdog, "transformer-encoder": encoder,
        "transformer-train": language_model, "lstm-lm-train": recurrent,
        "lenet-input": functools.partial(lenet, train=piped),
    }.get(workload)  # fmt: skip
    return made(size, mode, batch) if made else {}


def traced(function, mode, example):
    """Return a function as a mode executes it, as TensorFlow's guides do; ``example`` are arguments like the batch.

    With ``xla-auto``, TensorFlow clusters what a tf.function computes by itself. With ``function-frozen``, its own tool
    makes the variables constants; it has no public name, and TensorFlow's examples import it from there.
    """
    import tensorflow as tf  # Keras on another backend uses the networks below.

    if mode.startswith("eager"):
        return function
    made = tf.function(function, jit_compile=mode.startswith("xla") and mode != "xla-auto")
    if mode == "function-frozen":
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

        frozen = convert_variables_to_constants_v2(made.get_concrete_function(*example), lower_control_flow=False)

        def compute(*given):
            outputs = frozen(*given)
            return outputs if len(outputs) > 1 else outputs[0]

        # A call of what the tool returns takes 3 ms; within a tf.function it is inlined.
        return tf.function(compute)
    return made.get_concrete_function(*example) if mode.endswith("-concrete") else made


def drawn(model):
    """Draw those weights of a built network that are all alike: a frozen graph drops the zeros that a new one adds."""
    random = np.random.RandomState(0)
    weights = model.get_weights()
    alike = [weight.size > 0 and np.ptp(weight) == 0 for weight in weights]
    model.set_weights([
        random.uniform(0.5, 1.5, weight.shape).astype(weight.dtype) if same else weight
        for weight, same in zip(weights, alike, strict=True)
    ])  # fmt: skip
    return model


def trained(make, mode, batch, optimizer=lambda: keras.optimizers.SGD(RATE)):
    """Train ``make()`` as Keras' guides do: a custom loop, and compile with train_on_batch.

    Keras calls no concrete functions.
    """
    found = {"custom loop": holding(custom(make(), mode, batch, optimizer()), batch)}
    if not mode.endswith("-concrete"):
        found["train_on_batch"] = holding(on_batch(make(), mode, optimizer()), batch)
    return found


def piped(make, mode, order, optimizer=lambda: keras.optimizers.SGD(RATE)):
    """Train on what a tf.data pipeline makes of the stored examples.

    The loop over it is Python's, or in a graph, as TensorFlow's guide to tf.function has it.
    """
    from pipelines_tensorflow import pipelines

    found = {}
    for name, pipeline in pipelines(order).items():
        example = next(iter(pipeline(1)))
        found[f"custom loop, {name}"] = Piped(custom(make(), mode, example, optimizer()), pipeline)
        if not mode.startswith("eager"):
            found[f"loop in a graph, {name}"] = InGraph(custom(make(), mode, example, optimizer()), pipeline)
        if not mode.endswith("-concrete"):
            found[f"train_on_batch, {name}"] = Piped(on_batch(make(), mode, optimizer()), pipeline)
    return found


class InGraph:
    """Does a step with each batch of a pipeline, in one tf.function."""

    def __init__(self, step, pipeline):
        import tensorflow as tf

        self._made = functools.lru_cache(maxsize=None)(pipeline)

        @tf.function
        def steps(dataset):
            loss = tf.constant(0.0)
            for inputs, labels in dataset:
                loss = step(inputs, labels)["loss"]
            return loss

        self._steps = steps

    def run(self, batches):
        return {"loss": self._steps(self._made(len(batches)))}


def criterion():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def custom(model, mode, example, optimizer):
    import tensorflow as tf

    score = criterion()
    model.build(example[0].shape)
    optimizer.build(model.trainable_variables)

    def update(inputs, labels):
        with tf.GradientTape() as tape:
            loss = score(labels, model(inputs, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    transformed = traced(update, mode, example)

    def step(inputs, labels):
        return {"loss": transformed(inputs, labels)}

    # A concrete function does not keep its variables.
    step.variables = model, optimizer
    return step


def on_batch(model, mode, optimizer):
    model.compile(
        optimizer=optimizer, loss=criterion(), run_eagerly=mode.startswith("eager"), jit_compile=mode == "xla"
    )
    return lambda inputs, labels: {"loss": model.train_on_batch(inputs, labels)}


def perceptron(size, mode, batch, train=None):
    def make():
        hidden = [keras.layers.Dense(size["hidden"], activation="relu") for _ in range(size["layers"])]
        return keras.Sequential([*hidden, keras.layers.Dense(size["classes"])])

    return (train or trained)(make, mode, batch)


def convolution(filters):
    return [keras.layers.Conv2D(filters, 5, activation="relu"), keras.layers.MaxPooling2D(2)]


def dense(width):
    return keras.layers.Dense(width, activation="relu")


def lenet(size, mode, batch, train=None):
    def make():
        layers = [*convolution(6), *convolution(16), keras.layers.Flatten(), dense(120), dense(84)]
        return keras.Sequential([*layers, keras.layers.Dense(10)])

    return (train or trained)(make, mode, batch)


def catdog(size, mode, batch, train=None):
    def make():
        blocks = [layer for factor in (1, 2, 4) for layer in convolution(size["filters"] * factor)]
        return keras.Sequential([*blocks, keras.layers.Flatten(), dense(size["dense"]), keras.layers.Dense(2)])

    return (train or trained)(make, mode, batch, lambda: keras.optimizers.Adam(1e-3))


def stack(size, hidden, causal):
    layers, width, heads = keras.layers, size["width"], size["heads"]
    for _ in range(size["layers"]):
        normal = layers.LayerNormalization(epsilon=1e-5)(hidden)
        attend = layers.MultiHeadAttention(heads, width // heads)
        hidden = hidden + attend(normal, normal, use_causal_mask=causal)
        wide = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization(epsilon=1e-5)(hidden))
        hidden = hidden + layers.Dense(width)(wide)
    return layers.LayerNormalization(epsilon=1e-5)(hidden)


def encoder(size, mode, batch):
    inputs = keras.Input(batch_shape=batch[0].shape)
    model = drawn(keras.Model(inputs, stack(size, inputs, causal=False)))
    transformed = traced(lambda values: model(values, training=False), mode, batch)
    return {"keras": lambda *given: {"hidden": transformed(*batch)}}


def recurrent(size, mode, batch, train=None):
    """Make Keras' layers; the loop over time is unrolled, or a tf.while_loop."""

    def make(unroll):
        lstm = [keras.layers.LSTM(size["width"], return_sequences=True, unroll=unroll) for _ in range(size["layers"])]
        embedding = keras.layers.Embedding(size["vocabulary"], size["width"])
        tokens = keras.Input(batch_shape=batch[0].shape, dtype="int32")
        return keras.Sequential([tokens, embedding, *lstm, keras.layers.Dense(size["vocabulary"])])

    found = {}
    for name, unroll in (("unrolled", True), ("loop", False)):
        steps = (train or trained)(lambda unroll=unroll: make(unroll), mode, batch, lambda: keras.optimizers.SGD(1.0))
        found.update((f"{key}, {name}", step) for key, step in steps.items())
    return found


class Positions(keras.layers.Layer):
    """Learned positions, added to the embedded tokens."""

    def build(self, shape):
        self.table = self.add_weight(name="positions", shape=shape[1:])

    def call(self, hidden):
        return hidden + self.table


class TiedEmbedding(keras.layers.Embedding):
    """What Keras 2 has in keras_nlp alone."""

    def call(self, inputs, reverse=False):
        if not reverse:
            return super().call(inputs)
        import tensorflow as tf

        return tf.matmul(inputs, self.embeddings, transpose_b=True)


def language_model(size, mode, batch, optimizer=lambda: keras.optimizers.Adam(1e-3), train=None):
    """Project onto the vocabulary with the embedding's own weights, as keras_hub's ReversibleEmbedding does."""

    def make():
        tokens = keras.Input(batch_shape=batch[0].shape, dtype="int32")
        embedding = getattr(keras.layers, "ReversibleEmbedding", TiedEmbedding)(size["vocabulary"], size["width"])
        hidden = stack(size, Positions()(embedding(tokens)), causal=True)
        return keras.Model(tokens, embedding(hidden, reverse=True))

    return (train or trained)(make, mode, batch, optimizer)
