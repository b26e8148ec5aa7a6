"""Forms of small numbers in PyTorch: those below the normal ones count as zero, as in TensorFlow and XLA."""

from __future__ import annotations

import torch

from bench.frameworks.torch import settings

present = settings.demand


def demand(*given, **options):
    torch.set_flush_denormal(True)
    present(*given, **options)


FORMS = {"flushed": {"bench.frameworks.torch.settings:demand": demand}}
