"""Forms of a training step in PyTorch: which parts of it torch.compile gets, and who differentiates."""

from __future__ import annotations

import torch

from bench.frameworks.torch import optimizers, training

TRAINING = "bench.frameworks.torch.training:"


def default_optimizer(parameters, settings, mode):
    """Make the optimizer that ``compile-optimizer`` has."""
    return optimizers.make_optimizer(parameters, settings, optimizers.COMPILED)


def compiled_autograd(module, transform, settings):
    """Give torch.compile the loop of a user, and its compiled autograd the backward pass."""
    torch._dynamo.config.compiled_autograd = True
    return training.recorded_step(module, transform, settings)


FORMS = {
    # For the mode compile: two compiled functions in a step.
    "optimizer apart": {TRAINING + "COMPILED": "compile", TRAINING + "make_optimizer": default_optimizer},
    # For the mode compile-step.
    "backward": {TRAINING + "whole_step": training.recorded_step},
    "compiled autograd": {TRAINING + "whole_step": compiled_autograd},
}
