"""Differentiates modules with functorch, which is torch.func since 2.0, and updates with torch.optim's functions."""

from __future__ import annotations

import torch

from ...program import Unsupported


def functional_gradients(module):
    """Return ``differentiate(trained, kept, *batch)`` of a module whose forward gives the loss of a batch.

    It returns ({name: gradient}, (loss, {name: buffer after the step})).
    """
    if not hasattr(torch, "func") and any(isinstance(layer, torch.nn.RNNBase) for layer in module.modules()):
        raise Unsupported("functorch of torch {} does not see the weights of nn.LSTM".format(torch.__version__))
    if any(isinstance(layer, torch.nn.RNNBase) and on_gpu(layer) for layer in module.modules()):
        raise Unsupported("cuDNN's nn.LSTM needs the storage of its weights, which torch.func hides: see compile")
    functional_call, grad_and_value = functions()

    def loss(trained, kept, *batch):
        # A functional transform forbids writing to the module's own running statistics.
        kept = {name: value.clone() for name, value in kept.items()}
        return functional_call(module, dict(trained, **kept), batch), kept

    return grad_and_value(loss, has_aux=True)


def on_gpu(layer):
    return any(parameter.is_cuda for parameter in layer.parameters())


def functions():
    """Return functional_call and grad_and_value of this version."""
    if hasattr(torch, "func"):
        return torch.func.functional_call, torch.func.grad_and_value
    try:
        from functorch import grad_and_value
    except ImportError as error:
        raise Unsupported(
            "functorch is a package of its own before PyTorch 1.13, and torch {} has none beside it: {}".format(
                torch.__version__, error
            )
        ) from error
    from torch.nn.utils.stateless import functional_call

    return functional_call, grad_and_value


def functional_optimizer(parameters, settings):
    """Return ``update(gradients)`` and its state, with torch.optim's functions, which a compiler can trace."""
    from torch.optim.adam import adam
    from torch.optim.adamw import adamw
    from torch.optim.sgd import sgd

    rate = settings["learning_rate"]
    if settings["name"] == "sgd":
        momentum = settings.get("momentum", 0.0)
        velocities = [torch.zeros_like(value) for value in parameters] if momentum else []

        def descend(gradients):
            sgd(
                parameters, gradients, velocities or [None] * len(parameters), has_sparse_grad=False, foreach=True,
                weight_decay=0.0, momentum=momentum, lr=rate, dampening=0.0, nesterov=False, maximize=False,
            )  # fmt: skip

        return descend, velocities
    if settings["name"] in ("adam", "adamw"):
        kind = adam if settings["name"] == "adam" else adamw
        first, second = ([torch.zeros_like(value) for value in parameters] for _ in range(2))
        counts = [torch.zeros((), device=value.device) for value in parameters]

        def adapt(gradients):
            # ``capturable`` keeps the count of steps in tensors, as a compiled step needs; the name is of CUDA graphs.
            kind(
                parameters, gradients, first, second, [], counts, foreach=True, capturable=True, amsgrad=False,
                beta1=settings["beta1"], beta2=settings["beta2"], lr=rate, eps=settings["epsilon"], maximize=False,
                weight_decay=settings.get("weight_decay", 0.0),
            )  # fmt: skip

        return adapt, [*first, *second, *counts]
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))
