"""Implements optimizer-step-adam in TensorFlow: as optimizer-step-adamw."""

from __future__ import annotations

import functools

from ..optimizer_step_adamw import tensorflow as step
from . import OPTIMIZER

build = functools.partial(step.build, optimizer=OPTIMIZER)
