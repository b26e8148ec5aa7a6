"""Implements random-uniform in TensorFlow: as random-normal."""

from __future__ import annotations

import functools

from ..random_normal import tensorflow as normal

build = functools.partial(normal.build, distribution="uniform")
