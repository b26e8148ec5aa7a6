"""Implements lenet-train in Keras: Conv2D, MaxPooling2D and Dense layers in a Sequential model."""

from __future__ import annotations

import keras

from ...frameworks.keras.adapter import training
from ...frameworks.keras.last import Logits
from ...frameworks.keras.versions import config
from . import OPTIMIZER, SIDE


def network(side, filters, dense, classes):
    """Make a model of blocks (convolution, ReLU, pooling), then dense layers, in Keras' layout of images."""
    layers = keras.layers
    blocks = [
        layer for count in filters for layer in (layers.Conv2D(count, 5, activation="relu"), layers.MaxPooling2D())
    ]
    if layout() == "NCHW":
        # The inputs are NHWC; Flatten itself goes back to that order.
        blocks = [layers.Permute((3, 1, 2)), *blocks]
    hidden = [layers.Dense(width, activation="relu") for width in dense]
    return keras.Sequential([keras.Input((side, side, 1)), *blocks, layers.Flatten(), *hidden, Logits(classes)])


def layout():
    return "NHWC" if config.image_data_format() == "channels_last" else "NCHW"


def build(size, parameters, batch, transform):
    model = network(SIDE, (6, 16), (120, 84), 10)
    return training(model, parameters, transform, OPTIMIZER, layout=layout())
