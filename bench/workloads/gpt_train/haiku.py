"""Implements gpt-train in Haiku: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import haiku as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
