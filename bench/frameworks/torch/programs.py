"""Makes the programs that PyTorch's users write for inference with a module or function."""

from __future__ import annotations

import torch

from ...program import Program
from .layouts import module_settings


def inference(module, transform, names):
    """Make the program of an nn.Module or function that maps a batch to one tensor or a tuple, named ``names``."""
    if isinstance(module, torch.nn.Module):
        module.eval()
    transformed = transform(module, training=False, settings=lambda: module_settings(module))

    def run(batches):
        with torch.inference_mode():
            for batch in batches:
                outputs = transformed(*batch)
        return dict(zip(names, outputs if isinstance(outputs, (tuple, list)) else (outputs,)))

    return Program(lambda *batch: run((batch,)), run=run)
