"""Implements resnet18 in Keras: layers of keras.applications in a functional model, which resnet18-train uses, too."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import inference
from ...frameworks.keras.last import Logits
from ...frameworks.keras.padding import ZeroPadding2D
from .. import batch_norm, resnet
from ..lenet_train.keras import layout

#: {name of a batch normalisation's array in the specification: in Keras}
NORM = {"mean": "moving_mean", "variance": "moving_variance", "scale": "gamma", "shift": "beta"}


def layer_name(layer, kind):
    # PyTorch, to which Keras gives its layers as modules, allows no dots.
    return "{}_{}".format(layer.name.replace(".", "_"), kind)


def edged(images, kernel):
    """Pad by half of a kernel at every edge, as keras.applications does: "same" is not symmetric with a stride of 2."""
    return ZeroPadding2D(kernel // 2)(images) if kernel > 1 else images


def network(size, normalisation=layers.BatchNormalization):
    """Make the model that maps images (batch, side, side, 3) to logits, in Keras' layout of images."""
    axis = 3 if layout() == "NHWC" else 1

    def apply(layer, hidden):
        padding = "same" if layer.stride == 1 else "valid"
        convolution = layers.Conv2D(
            layer.outputs, layer.kernel, layer.stride, padding, use_bias=False, name=layer_name(layer, "conv")
        )
        normal = normalisation(axis, 1 - batch_norm.MOMENTUM, batch_norm.EPSILON, name=layer_name(layer, "bn"))
        return normal(convolution(hidden if layer.stride == 1 else edged(hidden, layer.kernel)))

    def rectified(hidden):
        return layers.Activation("relu")(hidden)

    images = keras.Input((size["side"], size["side"], resnet.COLOURS))
    # The inputs are NHWC.
    hidden = images if layout() == "NHWC" else layers.Permute((3, 1, 2))(images)
    hidden = rectified(apply(resnet.stem(size), hidden))
    if resnet.stem(size).stride == 2:
        # What was rectified is not below the zeros of the edge.
        hidden = layers.MaxPooling2D(3, 2)(edged(hidden, 3))
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else apply(shortcut, hidden)
        for layer in branch[:-1]:
            hidden = rectified(apply(layer, hidden))
        hidden = rectified(layers.Add()([kept, apply(branch[-1], hidden)]))
    pooled = layers.GlobalAveragePooling2D()(hidden)
    return keras.Model(images, Logits(size["classes"], name="dense")(pooled))


def named_weights(size, model):
    """Return {name in the specification: variable}, with running statistics."""
    dense = model.get_layer("dense")
    named = {"dense.weight": dense.kernel, "dense.bias": dense.bias}
    for layer, _ in resnet.convolutions(size):
        named[layer.name + ".weight"] = model.get_layer(layer_name(layer, "conv")).kernel
        normal = model.get_layer(layer_name(layer, "bn"))
        named.update((layer.name + "." + part, getattr(normal, name)) for part, name in NORM.items())
    return named


def build(size, parameters, batch, transform):
    model = network(size)
    return inference(model, parameters, transform, "logits", named_weights(size, model), layout())
