"""Forms of a training step in PyTorch: which parts of it torch.compile gets, and one by one or together."""

from __future__ import annotations

import torch

from bench.frameworks.torch import optimizers, training

TRAINING = "bench.frameworks.torch.training:"


def default_optimizer(parameters, settings, mode):
    """Make the optimizer that ``compile-optimizer`` has."""
    return optimizers.make_optimizer(parameters, settings, optimizers.COMPILED)


def recorded_backward(module, transform, settings):
    """Give torch.compile the loop of a user, and its compiled autograd the backward pass."""
    run, state = training.recorded_step(module, transform, settings)

    def run_compiled(batches):
        with torch._dynamo.config.patch(compiled_autograd=True):
            return run(batches)

    return run_compiled, state


FORMS = {
    # For the mode compile: two compiled functions in a step.
    "optimizer apart": {TRAINING + "COMPILED": "compile", TRAINING + "make_optimizer": default_optimizer},
    # For the mode compile-step.
    "backward": {TRAINING + "whole_step": training.recorded_step},
    "compiled autograd": {TRAINING + "whole_step": recorded_backward},
}
