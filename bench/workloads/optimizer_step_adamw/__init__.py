"""Specifies optimizer-step-adamw: one step of AdamW for many tensors, whose gradients are given."""

from __future__ import annotations

from ..optimizer_step import *  # noqa: F403 (what the optimizers share)
from ..optimizer_step import SMALL, batches, work

OPTIMIZER = {"name": "adamw", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.1}
batch = batches(scale=SMALL)
# Three and four operations of the moments, five of the update, two of the decay; parameters and two moments read and
# written, gradients read.
useful_flops, compulsory_bytes = work(operations=3 + 4 + 5 + 2, arrays=2 * 3 + 1)
