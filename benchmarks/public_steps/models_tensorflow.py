"""Makes runs of networks of Keras' layers and of the models of keras.applications and keras_hub, in the shapes of ours.

Keras' running variance is not unbiased. keras.applications.ResNet50 has the stride in the first convolution of a block
(version 1, a tenth less work) and biases in its convolutions. GPT-2 of keras_hub has biases in its projections to
queries, keys and values, gets the exact GELU, and computes the logits of the whole prompt, too.
"""

from __future__ import annotations

from repeated import repeated
from with_tensorflow import drawn, keras, language_model, traced, trained

from bench.workloads import batch_norm, resnet
from bench.workloads.gpt_train import OPTIMIZER as ADAMW
from bench.workloads.resnet18_train import OPTIMIZER as SGD

try:
    from keras_hub.models import GPT2Backbone, GPT2CausalLM
except ImportError:
    GPT2CausalLM = None

layers = keras.layers


def runs(workload, size, mode, batch):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch."""
    return {name: repeated(step) for name, step in MODELS[workload](size, mode, batch).items()}


def unit(hidden, layer):
    """Apply a convolution with its batch normalisation."""
    edge = layer.kernel // 2
    if layer.stride > 1 and edge:
        hidden = layers.ZeroPadding2D(edge)(hidden)
    padding = "valid" if layer.stride > 1 else "same"
    hidden = layers.Conv2D(layer.outputs, layer.kernel, layer.stride, padding=padding, use_bias=False)(hidden)
    axis = 3 if keras.backend.image_data_format() == "channels_last" else 1
    return layers.BatchNormalization(axis, 1 - batch_norm.MOMENTUM, batch_norm.EPSILON)(hidden)


def shape_of(size):
    """Return the shape of an image, in the form that Keras is set to."""
    sides = (size["side"], size["side"])
    last = keras.backend.image_data_format() == "channels_last"
    return (*sides, resnet.COLOURS) if last else (resnet.COLOURS, *sides)


def residual(size):
    """Build the network as Keras' examples build theirs: layers called on each other's outputs."""
    images = keras.Input(batch_shape=(size["batch"], *shape_of(size)))
    hidden = layers.ReLU()(unit(images, resnet.stem(size)))
    if resnet.stem(size).stride == 2:
        hidden = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(hidden))
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else unit(hidden, shortcut)
        for layer in branch[:-1]:
            hidden = layers.ReLU()(unit(hidden, layer))
        hidden = layers.ReLU()(layers.Add()([unit(hidden, branch[-1]), kept]))
    hidden = layers.GlobalAveragePooling2D()(hidden)
    return keras.Model(images, layers.Dense(size["classes"])(hidden))


def classify(size, mode, batch):
    return {"keras.layers": inferring(residual(size), mode, batch[0])}


def inferring(model, mode, given):
    drawn(model)
    transformed = traced(lambda given: model(given, training=False), mode, (given,))
    return lambda: {"outputs": transformed(given)}


def train_images(size, mode, batch, train=trained):
    def optimizer():
        return keras.optimizers.SGD(SGD["learning_rate"], momentum=SGD["momentum"])

    makes = {"keras.layers": lambda: residual(size)}
    if size["depth"] == 50 and size["width"] == 64 and size["stem"] == 7:
        makes["keras.applications"] = lambda: keras.applications.ResNet50(
            weights=None, input_shape=shape_of(size), classes=size["classes"], classifier_activation=None
        )
    found = {}
    for name, make in makes.items():
        found.update((f"{name}, {step}", made) for step, made in train(make, mode, batch, optimizer).items())
    return found


def adamw():
    return keras.optimizers.AdamW(
        ADAMW["learning_rate"], ADAMW["weight_decay"], ADAMW["beta1"], ADAMW["beta2"], ADAMW["epsilon"]
    )


def causal(size):
    """Return GPT-2 of keras_hub."""
    backbone = GPT2Backbone(
        size["vocabulary"], size["layers"], size["heads"], size["width"], 4 * size["width"], dropout=0.0,
        max_sequence_length=size["sequence"],
    )  # fmt: skip
    for layer in backbone.transformer_layers:
        layer._feedforward_intermediate_dense.activation = keras.activations.gelu
    return GPT2CausalLM(backbone)


def of_tokens(size):
    """Return GPT-2 of keras_hub as a model of tokens, none of which is padding."""
    tokens = keras.Input(batch_shape=(size["batch"], size["sequence"]), dtype="int32")
    return keras.Model(tokens, causal(size)({"token_ids": tokens, "padding_mask": keras.ops.ones_like(tokens)}))


def predict(size, mode, batch):
    return {"keras_hub": inferring(of_tokens(size), mode, batch[0])} if GPT2CausalLM else {}


def train_language(size, mode, batch, train=trained):
    found = {f"keras.layers, {name}": step for name, step in language_model(size, mode, batch, adamw, train).items()}
    if GPT2CausalLM:
        steps = train(lambda: of_tokens(size), mode, batch, adamw)
        found.update((f"keras_hub, {name}", step) for name, step in steps.items())
    return found


def decode(size, mode, batch):
    """Decode as keras_hub generates: a cache of fixed length, the prompt, then a loop over the tokens."""
    import tensorflow as tf  # Keras on another backend uses the networks above.

    if GPT2CausalLM is None:
        return {}
    model, prompt, sequence = drawn(causal(size)), size["prompt"], size["sequence"]
    shape = (size["batch"], size["layers"], 2, sequence, size["heads"], size["width"] // size["heads"])

    def decoded(tokens):
        logits, _, cache = model.call_with_cache(tokens[:, :prompt], tf.zeros(shape), 0)
        first = logits[:, -1]
        found = tf.TensorArray(first.dtype, sequence - prompt + 1, element_shape=first.shape).write(0, first)

        def step(index, cache, found):
            token = tf.slice(tokens, [0, index], [size["batch"], 1])
            logits, _, cache = model.call_with_cache(token, cache, index)
            return index + 1, tf.ensure_shape(cache, shape), found.write(index - prompt + 1, logits[:, 0])

        _, _, found = tf.while_loop(
            lambda index, *others: index < sequence, step, (tf.constant(prompt), cache, found),
            maximum_iterations=sequence - prompt,
        )  # fmt: skip
        return tf.transpose(found.stack(), (1, 0, 2))

    transformed = traced(decoded, mode, batch)
    return {"keras_hub": lambda: {"outputs": transformed(batch[0])}}


MODELS = {
    "resnet18": classify, "resnet50": classify, "resnet18-train": train_images, "resnet50-train": train_images,
    "gpt": predict, "gpt-train": train_language, "kv-decode": decode,
}  # fmt: skip
