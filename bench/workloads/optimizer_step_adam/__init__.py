"""Specifies optimizer-step-adam: one step of Adam for many tensors, whose gradients are given."""

from __future__ import annotations

from ..optimizer_step import *  # noqa: F403 (what the optimizers share)
from ..optimizer_step import SMALL, batches, work

OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
batch = batches(scale=SMALL)
# Three and four operations of the moments, five of the update; parameters and two moments read and written, gradients
# read.
useful_flops, compulsory_bytes = work(operations=3 + 4 + 5, arrays=2 * 3 + 1)
