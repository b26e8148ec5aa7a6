"""Makes the programs that PyTorch's users write for inference with a module or function."""

from __future__ import annotations

import torch

from ...program import Program
from . import lazy
from .layouts import module_settings


def inference(module, transform, names):
    """Make the program of an nn.Module or function that maps a batch to one tensor or a tuple, named ``names``."""
    if isinstance(module, torch.nn.Module):
        module.eval()

    def in_force():
        waits = {"synchronised": "every step"} if transform.mode == lazy.MODE else {}
        return dict(module_settings(module), **waits)

    transformed = transform(module, training=False, settings=in_force)

    # Tensors of inference mode have no place for what a lazy one counts.
    forward_only = torch.no_grad if transform.mode == lazy.MODE else torch.inference_mode

    def run(batches):
        with forward_only():
            for batch in batches:
                outputs = transformed(*batch)
        return dict(zip(names, outputs if isinstance(outputs, (tuple, list)) else (outputs,)))

    return Program(lambda *batch: run((batch,)), run=run)
