"""Implements mlp-train in Keras: Dense layers in a Sequential model."""

from __future__ import annotations

import keras

from ...frameworks.keras.adapter import training
from ...frameworks.keras.last import Logits
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    hidden = [keras.layers.Dense(size["hidden"], activation="relu") for _ in range(size["layers"])]
    model = keras.Sequential([keras.Input((size["inputs"],)), *hidden, Logits(size["classes"])])
    return training(model, parameters, transform, OPTIMIZER)
