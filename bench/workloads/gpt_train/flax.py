"""Implements gpt-train in Flax: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import flax as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
