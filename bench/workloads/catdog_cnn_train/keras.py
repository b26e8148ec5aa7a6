"""Implements catdog-cnn-train in Keras: Conv2D, MaxPooling2D and Dense layers in a Sequential model."""

from __future__ import annotations

from ...frameworks.keras.adapter import training
from ..lenet_train.keras import layout, network
from . import CLASSES, OPTIMIZER, SIDE


def build(size, parameters, batch, transform):
    filters = [size["filters"] * factor for factor in (1, 2, 4)]
    model = network(SIDE, filters, (size["dense"],), CLASSES)
    return training(model, parameters, transform, OPTIMIZER, layout=layout())
