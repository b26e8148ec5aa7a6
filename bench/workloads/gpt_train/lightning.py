"""Implements gpt-train in Lightning: the model of transformer-train with AdamW."""

from __future__ import annotations

import functools

from ..transformer_train import lightning as model
from . import OPTIMIZER

build = functools.partial(model.build, optimizer=OPTIMIZER)
