"""Compiles symbolic expressions to functions of arrays, and counts them."""

from __future__ import annotations

import theano
from theano import tensor


class Compiler:
    """Compiles what programs write as functions of symbols."""

    def __init__(self):
        self._training = False
        #: Functions that programs had compiled; one takes arrays of any shape.
        self.functions = 0

    def function(self, symbolic, training):
        """Return a function of arrays that compiles ``symbolic`` for their types at its first call.

        ``symbolic`` returns {name: expression}, or with ``training`` (loss, updates of shared variables).
        """
        self._training = self._training or training

        def count():
            self.functions += 1

        return at_first_call(symbolic, training, count)

    def report(self):
        part = "forward, backward and optimizer" if self._training else "forward"
        count = self.functions
        return {"compiled": part if count else "nothing", "graphs": count, "traces": count, "compilations": count}


def at_first_call(symbolic, training=False, note=lambda: None):
    """Return a function of arrays that compiles ``symbolic`` for their types when it is first called with them.

    ``note`` is called before each compilation.
    """
    known = {}

    def call(*arrays):
        kinds = tuple((array.dtype, array.ndim) for array in arrays)
        if kinds not in known:
            note()
            known[kinds] = compiled(symbolic, kinds, training)
        return known[kinds](*arrays)

    return call


def compiled(symbolic, kinds, training=False):
    symbols = [tensor.TensorType(str(dtype), (False,) * dimensions)() for dtype, dimensions in kinds]
    if training:
        loss, updates = symbolic(*symbols)
        made = theano.function(symbols, loss, updates=updates)
    else:
        made = theano.function(symbols, symbolic(*symbols))
    # The arrays are of these types; checking them in each call is for those who give lists.
    made.trust_input = True
    return made
