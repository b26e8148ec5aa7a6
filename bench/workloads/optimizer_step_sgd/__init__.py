"""Specifies optimizer-step-sgd: one step of SGD with momentum for many tensors, whose gradients are given."""

from __future__ import annotations

from ..optimizer_step import *  # noqa: F403 (what the optimizers share)
from ..optimizer_step import batches, work

OPTIMIZER = {"name": "sgd", "learning_rate": 0.05, "momentum": 0.9}
batch = batches(scale=1.0)
# Two operations of the velocity and two of the update. Parameters and velocities are read and written, gradients read.
useful_flops, compulsory_bytes = work(operations=2 + 2, arrays=2 * 2 + 1)
