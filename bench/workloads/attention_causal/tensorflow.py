"""Implements attention-causal in TensorFlow: as attention-full, with a mask."""

from __future__ import annotations

import functools

from ..attention_full import tensorflow as full
from . import CAUSAL

build = functools.partial(full.build, causal=CAUSAL)
