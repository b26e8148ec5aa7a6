"""Differentiates functions that are written in plain NumPy: reverse mode, in the dtype of what it is given.

A function receives variables in place of arrays and need not know: ``numpy.exp(x)``, ``x @ y`` and ``x.sum(axis=0)``
are recorded (NEP 13, NEP 18). ``rules`` holds the derivatives of NumPy's functions; ``primitive`` declares another.
What has no rule raises TypeError, as does anything that would change the dtype: nothing is approximated in silence.
"""

from __future__ import annotations

from . import rules
from .rules import sliding_window_view
from .tape import Tape, plain, primitive

__all__ = ["hessian_vector", "loss_and_gradients", "plain", "primitive", "rules", "sliding_window_view"]

#: The imaginary step. Its square vanishes beside 1 even in float64, and no denormal number of float32 slows products.
STEP = 2.0**-33


def loss_and_gradients(loss, size, parameters, state, batch, rounded=None):
    """Return (loss, {name: new state}, {name: gradient}) of a specification's ``loss`` at ``parameters``.

    ``rounded(array)`` rounds the batch, each result and each gradient, as a shorter type would hold them.

    ``loss(size, parameters, state, batch)`` returns ``(loss, state)``, see bench.workloads. A parameter without
    influence has a gradient of zeros. Raises TypeError for a function without a rule or a change of the dtype.
    """
    tape = Tape(rounded)
    variables = {name: tape.variable(value) for name, value in parameters.items()}
    batch = tuple(map(rounded, batch)) if rounded else batch
    value, state = loss(size, variables, state, batch)
    gradients = tape.gradients(value, list(variables.values()))
    return plain(value), {name: plain(array) for name, array in state.items()}, dict(zip(variables, gradients))


def hessian_vector(loss, size, parameters, batch, vectors):
    """Return {name: (Hessian of ``loss`` @ vectors)[name]}; ``vectors`` is {name: array}, and no state is kept.

    The parameters move by a tiny imaginary step along the vectors; the imaginary parts of the gradients there, over the
    step, are the product (Squire and Trapp 1998). Nothing is subtracted, so it is as exact as the dtype. ``loss`` must
    consist of functions that are smooth where it is computed.
    """
    moved = {name: value + 1j * STEP * vectors[name] for name, value in parameters.items()}
    gradients = loss_and_gradients(loss, size, moved, {}, batch)[2]
    return {name: gradient.imag / STEP for name, gradient in gradients.items()}
