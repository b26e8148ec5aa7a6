"""Implements attention-causal in PyTorch: as attention-full, with a mask."""

from __future__ import annotations

import functools

from ..attention_full import torch as full
from . import CAUSAL

build = functools.partial(full.build, causal=CAUSAL)
