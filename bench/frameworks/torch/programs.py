"""Makes the programs that PyTorch's users write: inference with a module, and training it with an optimizer."""

from __future__ import annotations

import torch

from ...program import Program


def inference(module, transform, names):
    """Make the program of an nn.Module or function that maps a batch to one tensor or a tuple, named ``names``."""
    if isinstance(module, torch.nn.Module):
        module.eval()
    transformed = transform(module, training=False, settings=lambda: convolution_layout(module))

    def step(*batch):
        with torch.inference_mode():
            outputs = transformed(*batch)
        return dict(zip(names, outputs if isinstance(outputs, (tuple, list)) else (outputs,)))

    return Program(step)


def convolution_layout(module):
    """Read the layout of a module's convolutions off their weights, by which PyTorch chooses its kernels.

    A weight of one channel has the same memory in both layouts.
    """
    if not isinstance(module, torch.nn.Module):
        return {}
    weights = [layer.weight for layer in module.modules() if isinstance(layer, torch.nn.Conv2d)]
    if not weights:
        return {}
    last = [
        weight.is_contiguous(memory_format=torch.channels_last) and not weight.is_contiguous() for weight in weights
    ]
    return {"layout": "NCHW, channels_last" if any(last) else "NCHW"}


def make_optimizer(parameters, settings):
    """Make the torch.optim optimizer that a specification's ``OPTIMIZER`` names, fused where this version can."""
    if settings["name"] == "sgd":
        kind, options = torch.optim.SGD, {"momentum": settings.get("momentum", 0.0)}
    elif settings["name"] == "adam":
        kind, options = torch.optim.Adam, {"betas": (settings["beta1"], settings["beta2"]), "eps": settings["epsilon"]}
    else:
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    parameters = list(parameters)
    try:
        return kind(parameters, lr=settings["learning_rate"], fused=True, **options)
    except (TypeError, RuntimeError):
        # SGD has had the keyword since 2.3; Adam's refused parameters on a processor until 2.4.
        return kind(parameters, lr=settings["learning_rate"], **options)


def module_training(module, transform, settings, parameters):
    """Make the program that trains ``module``, whose forward gives the loss of a batch.

    ``settings`` is the specification's OPTIMIZER; ``parameters()`` gives the parameters in the specification's names.
    Forward and backward run in the cell's mode, the optimizer as torch.optim ships it.
    """
    module.train()
    initial = {name: value.clone() for name, value in module.state_dict().items()}
    optimizer = make_optimizer(module.parameters(), settings)

    def in_force():
        found = {"fused optimizer": bool(optimizer.param_groups[0].get("fused"))}
        found.update(convolution_layout(module))
        return found

    transformed = transform(module, training=True, settings=in_force)

    def step(*batch):
        optimizer.zero_grad(set_to_none=True)
        loss = transformed(*batch)
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    def reset():
        module.load_state_dict(initial)
        for state in optimizer.state.values():
            for value in state.values():
                if torch.is_tensor(value):
                    value.zero_()

    return Program(step, parameters, reset)
