"""Implements gpt-train in Keras: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import keras as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
