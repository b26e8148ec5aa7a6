"""Makes the programs that train a module: with an optimizer of torch.optim, or the whole step as one function."""

from __future__ import annotations

import torch
from torch import distributed

from ...program import Program, Unsupported
from .. import halves, precisions
from . import lazy, parallel, scripting
from . import settings as settings_of
from .compiler import autocast
from .functional import functional_gradients, functional_optimizer
from .layouts import module_settings
from .optimizers import COMPILED, begin, fusion, make_optimizer, tensors_of
from .pair import SHARED, Pair


def module_training(module, transform, settings, parameters):
    """Make the program that trains ``module``, whose forward gives the loss of a batch.

    ``settings`` is the specification's OPTIMIZER; ``parameters()`` gives the parameters in the specification's names.
    The mode transforms the module, whose optimizer then is torch.optim's, or the whole step.
    """
    module.train()
    if transform.precision == precisions.MIXED:
        if transform.mode in (*scripting.MODES, *lazy.MODES):
            raise Unsupported("mode {} has no mixed precision here: use eager or compile".format(transform.mode))
        # Two processes do so when each has its device.
        if transform.mode != parallel.MODE:
            mix(module, next(module.parameters()).device)
    if transform.mode == parallel.MODE:
        return divided_training(module, transform, settings, parameters)
    make = optimized
    if transform.part == "step":
        # torch.func takes a recurrent layer's operations one by one: lstm-lm-train/tiny took five times as long. On
        # XLA's device torch.compile does not take torch.func's gradient of pooling (2.9).
        recurrent = any(isinstance(layer, torch.nn.RNNBase) for layer in module.modules())
        make = recorded_step if recurrent or transform.mode == lazy.OPENXLA else whole_step
    if transform.mode == "functorch":
        make = differentiated
    run, memory = make(module, transform, settings)
    if transform.mode in lazy.MODES:
        # What made the module is not part of the first step.
        lazy.wait()
        reset = lazy.stepping(resetting(module, memory, keep=torch.Tensor.cpu))
    else:
        reset = resetting(module, memory)
    return Program(lambda *batch: run((batch,)), parameters, reset, run, evaluation(module))


def mix(module, device):
    """Let a module compute in mixed precision, whatever calls or copies it.

    The copies of DataParallel have the attributes of the original: a ``forward`` among these would be the original's.
    """
    if device.type == "cuda":
        settings_of.verify_gpu(precisions.MIXED, device)
    kind, context = type(module), autocast(device)
    # The settings read the context back.
    module.__class__ = type(kind.__name__, (kind,), {"forward": context(kind.forward), "autocast": context})


def evaluation(module):
    """Return ``evaluate`` of a module that has ``logits``, as when predicting: op by op, in whatever mode."""
    if not hasattr(module, "logits"):
        return None

    def evaluate(*inputs):
        module.eval()
        with torch.no_grad():
            found = module.logits(*inputs)
        module.train()
        return found

    return evaluate


def resetting(module, memory, keep=torch.clone):
    """Return ``reset``, which sets a module back to what it is now, and what ``memory()`` gives to zero.

    ``keep`` makes the copies that it is set back to. A copy on XLA's device would share a buffer with the parameter,
    and a step writes over those of parameters.
    """
    initial = {name: keep(value) for name, value in module.state_dict().items()}

    def reset():
        module.load_state_dict(initial)
        for value in memory():
            value.zero_()

    return reset


def divided_training(module, transform, settings, parameters):
    """Make the program of two processes that each compute half of every batch."""
    halves.verify_program(transform.mode, training=True)
    module = parallel.with_statistics_of_all(module, SHARED.kind)

    def make():
        if transform.precision == precisions.MIXED:
            # Not before the fork: what casts for a GPU starts CUDA.
            mix(module, next(module.parameters()).device)
        optimizer = make_optimizer(module.parameters(), settings)
        return optimizer, resetting(module, lambda: tensors_of(optimizer))

    pair = Pair(module, make)
    counted = {"threads": pair.threads, "devices": distributed.get_world_size()}
    transform(
        module,
        training=True,
        settings=lambda: dict(module_settings(module), **fusion(pair.optimizer, transform.mode), **counted),
    )
    return Program(
        lambda *batch: pair.run((batch,)),
        parameters,
        pair.reset,
        pair.run,
        evaluation(module),
        close=pair.close,
        processes=(pair.process,),
        # Each run is told to the second process, which says when its GPU has ended.
        starts=pair.device.type == "cuda",
    )


def optimized(module, transform, settings):
    """Return ``run`` of a step that calls the transformed module and torch.optim, and what gives the optimizer's state.

    Forward and backward run in the cell's mode, the optimizer as torch.optim ships it.
    """
    mode = transform.mode
    optimizer = make_optimizer(module.parameters(), settings, mode)
    transformed = transform(
        module, training=True, settings=lambda: dict(module_settings(module), **fusion(optimizer, mode))
    )
    advance = optimizer.step
    if mode in (COMPILED, *lazy.MODES):
        advance = transform(advance, training=True, part="optimizer")

    def run(batches):
        for batch in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = transformed(*batch)
            loss.backward()
            advance()
        return {"loss": loss}

    return run, lambda: tensors_of(optimizer)


def differentiated(module, transform, settings):
    """Return ``run`` of a step whose gradients are those of functorch, which torch.optim gets, and its state."""
    trained = dict(module.named_parameters())
    values = {name: value.detach() for name, value in trained.items()}
    buffers = dict(module.named_buffers())
    optimizer = make_optimizer(trained.values(), settings)
    differentiate = transform(
        functional_gradients(module),
        training=True,
        settings=lambda: dict(module_settings(module), **fusion(optimizer, transform.mode)),
    )

    # The fused optimizers take both layouts for equal: a gradient in channels_last updated the wrong weights (2.15).
    fused = bool(optimizer.param_groups[0].get("fused"))

    def run(batches):
        for batch in batches:
            gradients, (loss, kept) = differentiate(values, buffers, *batch)
            for name, value in trained.items():
                value.grad = laid_out_as(value, gradients[name]) if fused else gradients[name]
            for name, buffer in buffers.items():
                buffer.copy_(kept[name])
            optimizer.step()
        return {"loss": loss}

    return run, lambda: tensors_of(optimizer)


def laid_out_as(parameter, gradient):
    """Return a gradient in the layout of its parameter, as ``backward`` leaves it."""
    if gradient.stride() == parameter.stride():
        return gradient
    return torch.empty_like(parameter).copy_(gradient)


def whole_step(module, transform, settings):
    """Return ``run`` of one function that computes loss, gradients and update, and what gives its optimizer's state.

    A function that calls ``backward`` breaks the graph, so the gradients are torch.func's. The update is the function
    behind torch.optim's class. Its foreach form lets Inductor fuse the updates of all parameters: in 2.15
    mlp-train/tiny took 0.6 of the time of the form that loops over them on one machine, and as long on another. For
    hundreds of tensors, the loop takes minutes to compile.
    """
    trained = {name: value.detach() for name, value in module.named_parameters()}
    buffers = dict(module.named_buffers())
    update, state = functional_optimizer(list(trained.values()), settings)
    differentiate = functional_gradients(module)

    def step(*batch):
        gradients, (value, kept) = differentiate(trained, buffers, *batch)
        update(list(gradients.values()))
        for name, buffer in buffers.items():
            buffer.copy_(kept[name])
        return value

    def in_force():
        return dict(module_settings(module), **{"fused optimizer": "by the compiler"})

    return stepping(transform(step, training=True, settings=in_force, part="step")), lambda: state


def recorded_step(module, transform, settings):
    """Return ``run`` of one function with forward, ``backward`` and torch.optim's step, and the optimizer's state.

    Each call that Dynamo leaves to PyTorch, such as a recurrent layer's and ``backward``, breaks the graph.
    """
    optimizer = make_optimizer(module.parameters(), settings, transform.mode)
    if transform.mode in lazy.MODES:
        begin(optimizer)

    def step(*batch):
        loss = module(*batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    def in_force():
        return dict(module_settings(module), **fusion(optimizer, transform.mode))

    transformed = transform(step, training=True, settings=in_force, part="step")
    return stepping(transformed), lambda: tensors_of(optimizer)


def stepping(function):
    """Return ``run``, which calls a function that is a whole step."""

    def run(batches):
        for batch in batches:
            loss = function(*batch)
        return {"loss": loss}

    return run
