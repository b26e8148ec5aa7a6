"""Implements layernorm-softmax-backward in PyTorch: torch.autograd.grad, or torch.func.vjp for compilers."""

from __future__ import annotations

import torch
from torch.nn import functional

from ...frameworks.torch.compiler import COMPILERS
from ..layernorm_softmax import EPSILON
from ..per_sample_gradients.torch import differentiating, looping

NAMES = ("inputs", "scale", "shift")


def normalise(inputs, scale, shift, epsilon: float = EPSILON):
    return functional.softmax(functional.layer_norm(inputs, scale.shape, scale, shift, epsilon), dim=-1)


def build(size, parameters, batch, transform):
    trained = [parameters[name].detach().requires_grad_() for name in NAMES[1:]]
    scripted = transform.mode.startswith("torchscript")
    forward = transform(normalise) if scripted else normalise

    def backward(inputs, gradient):
        values = [inputs.detach().requires_grad_(), *trained]
        return torch.autograd.grad(forward(*values), values, gradient)

    def pulled(inputs, gradient):
        _, pull = torch.func.vjp(normalise, inputs, parameters["scale"], parameters["shift"])
        return pull(gradient)

    if scripted:
        # TorchScript cannot hold the call of autograd, but differentiates the function that it made.
        return looping(backward, NAMES)
    # As one graph, which a compiler leaves at torch.autograd.grad.
    compiles = transform.mode.startswith(COMPILERS) and hasattr(torch, "func")
    return differentiating(pulled if compiles else backward, transform, NAMES)
