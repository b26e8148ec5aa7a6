"""Adapts Lightning, whose arrays, compiler and settings are PyTorch's."""

from __future__ import annotations

import lightning

from ..torch import adapter as of_torch
from .programs import training

__all__ = ["Adapter", "training"]


class Adapter(of_torch.Adapter):
    """PyTorch on one device; ``fit-compile`` compiles the module that the Trainer trains."""

    def __init__(self, mode, device, precision, threads):
        super().__init__("compile" if mode == "fit-compile" else "eager", device, precision, threads)

    def versions(self):
        return dict(super().versions(), lightning=lightning.__version__)
