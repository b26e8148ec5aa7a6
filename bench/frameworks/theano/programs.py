"""Makes the programs that Theano's users write: shared variables, and one function that updates them in a step."""

from __future__ import annotations

import theano
from theano import tensor

from ...program import Program
from ..forms import given
from .compiler import at_first_call


def inference(function, parameters, transform, layout=None, attention=None):
    """Make the program of ``function(variables, *symbols) -> {name: expression}``; parameters are shared variables."""
    variables = shared(parameters)
    found = given(layout=layout, attention=attention)
    return Program(transform(lambda *symbols: function(variables, *symbols), settings=lambda: found))


def training(loss, parameters, transform, settings, layout=None, attention=None, named=dict, outputs=None):
    """Make the program that trains ``parameters`` on ``loss(variables, *symbols)``.

    Loss, gradients and updates are one function. ``named`` gives the specification's arrays for {name: array} of the
    parameters, where these are kept in other layouts. ``outputs(variables, *symbols)`` gives the logits from which a
    training to a result is evaluated.
    """
    variables = shared(parameters)
    memory = []
    found = dict(given(layout=layout, attention=attention), **{"fused optimizer": "by the compiler"})

    def update(*symbols):
        value = loss(variables, *symbols)
        trained = list(variables.values())
        return value, updates(trained, tensor.grad(value, trained), settings, memory)

    transformed = transform(update, training=True, settings=lambda: found, part="step")

    def current():
        return named({name: variable.get_value(borrow=True) for name, variable in variables.items()})

    def reset():
        for name, variable in variables.items():
            variable.set_value(parameters[name])
        for variable in memory:
            variable.set_value(variable.get_value() * 0)

    # No part of what the mode transforms, nor of what is timed.
    evaluate = at_first_call(lambda *symbols: outputs(variables, *symbols)) if outputs is not None else None
    return Program(lambda *batch: {"loss": transformed(*batch)}, current, reset, evaluate=evaluate)


def shared(parameters):
    return {name: theano.shared(value.copy(), name) for name, value in parameters.items()}


def updates(variables, gradients, settings, memory):
    """Return the updates that a specification's ``OPTIMIZER`` names; its state is added to the list ``memory``."""

    def state(like):
        memory.append(theano.shared(like.get_value() * 0))
        return memory[-1]

    rate, found = settings["learning_rate"], []
    if settings["name"] == "sgd":
        for variable, gradient in zip(variables, gradients):
            step = gradient
            if settings.get("momentum"):
                velocity = state(variable)
                step = settings["momentum"] * velocity + gradient
                found.append((velocity, step))
            found.append((variable, variable - rate * step))
        return cast(found)
    if settings["name"] != "adam":
        raise ValueError("unknown optimizer {!r}".format(settings["name"]))
    beta1, beta2 = settings["beta1"], settings["beta2"]
    count = theano.shared(variables[0].get_value().dtype.type(0))
    memory.append(count)
    found.append((count, count + 1))
    mean_scale, square_scale = 1 / (1 - beta1 ** (count + 1)), 1 / (1 - beta2 ** (count + 1))
    for variable, gradient in zip(variables, gradients):
        mean, square = state(variable), state(variable)
        new_mean = beta1 * mean + (1 - beta1) * gradient
        new_square = beta2 * square + (1 - beta2) * gradient**2
        change = rate * new_mean * mean_scale / (tensor.sqrt(new_square * square_scale) + settings["epsilon"])
        found += [(mean, new_mean), (square, new_square), (variable, variable - change)]
    return cast(found)


def cast(found):
    """Return updates in the types of their variables: Theano takes numbers of Python for float64."""
    return [(variable, tensor.cast(value, variable.dtype)) for variable, value in found]
