"""Implements gpt-train in TensorFlow: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import tensorflow as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
