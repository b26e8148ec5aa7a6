"""Implements catdog-cnn-train in Theano: as lenet-train."""

from __future__ import annotations

import functools

from ..lenet_train import theano as step
from . import OPTIMIZER

build = functools.partial(step.build, optimizer=OPTIMIZER)
