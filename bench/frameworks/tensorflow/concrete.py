"""Calls concrete functions: what a tf.function traces for the shapes of its arguments, without looking it up."""

from __future__ import annotations


class Concrete:
    """A function that calls its concrete functions directly, one for each shape of the first argument.

    A concrete function does not check shapes: it would compute with what was traced for another one. The shapes of all
    other arguments have to depend on that of the first.
    https://www.tensorflow.org/guide/function#obtaining_concrete_functions
    """

    def __init__(self, traced):
        self._traced = traced
        self._found = {}
        self._shape = self._only = None

    def __call__(self, *arguments):
        shape = arguments[0].shape
        if shape == self._shape:
            return self._only(*arguments)
        # A dictionary hashes shapes, which takes longer than to compare two.
        found = self._found.get(tuple(shape))
        if found is None:
            found = self._found[tuple(shape)] = self._traced.get_concrete_function(*arguments)
        self._shape, self._only = shape, found
        return found(*arguments)
