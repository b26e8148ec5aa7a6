"""Implements optimizer-step-adam in PyTorch: as optimizer-step-adamw."""

from __future__ import annotations

import functools

from ..optimizer_step_adamw import torch as step
from . import OPTIMIZER

build = functools.partial(step.build, optimizer=OPTIMIZER)
