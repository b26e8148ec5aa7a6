"""Implements gpt-train in JAX: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import jax as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
