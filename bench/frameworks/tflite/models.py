"""Converts functions of TensorFlow to models of TensorFlow Lite, and runs them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from ...program import Unsupported

#: The most columns of a softmax whose error in int8 is below the largest that any output may have.
WIDEST_SOFTMAX = 128


class Models:
    """Converts a function once for each shape of its arguments."""

    def __init__(self, integers, threads):
        """``integers`` asks for weights and activations of 8 bits."""
        self._integers = integers
        self._threads = threads
        #: Models that were converted.
        self.count = 0
        #: Arrays that were placed, in this order: parameters, then batch for batch.
        self.placed = []

    def function(self, function):
        """Return a function of NumPy's arrays that converts ``function`` at its first call and runs the model."""
        known = {}
        run = refuse

        def call(*arrays):
            nonlocal run
            try:
                return run(*arrays)
            except ValueError:
                # The interpreter refuses arrays of other shapes than its model has. Comparing them in every call took
                # 0.4 of 3.4 µs of embedding-bag/tiny.
                shapes = tuple(array.shape for array in arrays)
                if known.get(shapes) is run:
                    raise
            if shapes not in known:
                known[shapes] = self._model(function, arrays)
            run = known[shapes]
            return run(*arrays)

        return call

    def _model(self, function, arrays):
        specifications = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
        traced = tf.function(function, autograph=False).get_concrete_function(*specifications)
        interpreter = Interpreter(model_content=self._converted(traced, arrays), num_threads=self._threads)
        interpreter.allocate_tensors()
        if self._integers and not any(entry["dtype"] is np.int8 for entry in interpreter.get_tensor_details()):
            raise Unsupported("the converter leaves this model in float32: see mode float32")
        self.count += 1
        given = places(interpreter.get_input_details(), traced.inputs[: len(arrays)])
        names = list(traced.structured_outputs)
        fetched = list(zip(names, places(interpreter.get_output_details(), traced.outputs)))
        put, invoke, take = interpreter.set_tensor, interpreter.invoke, interpreter.get_tensor

        def run(*arrays):
            for place, array in zip(given, arrays):
                put(place, array)
            invoke()
            return {name: take(place) for name, place in fetched}

        return run

    def _converted(self, traced, arrays):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([traced])
        if self._integers:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            # The ranges of the activations are those with the batches that were placed.
            converter.representative_dataset = lambda: iter(self._batches_like(arrays))
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.lite.OpsSet.TFLITE_BUILTINS]
        return converter.convert()

    def _batches_like(self, arrays):
        """List the placed batches that have the shapes and types of ``arrays``, and ``arrays``.

        Batches were placed last and have as many arrays each, so that their beginnings are counted from the end: the
        right side of one batch and the left side of the next one would give each side the other's range.
        """
        kinds, count = kinds_of(arrays), len(arrays)
        runs = [self.placed[end - count : end] for end in range(len(self.placed), count - 1, -count)]
        return [run for run in runs if kinds_of(run) == kinds] + [list(arrays)]


def refuse_wide_softmax(transform, columns):
    """Raise Unsupported where int8 has too few steps for a softmax over so many columns.

    The results have a fixed step of 1/256 (LiteRT's 8-bit quantization specification, SOFTMAX). Of normal values over
    128 columns this alone is a relative error of 0.09, over 256 columns of 0.19, and over 1,024 of 0.53.
    """
    if transform.mode == "int8" and columns > WIDEST_SOFTMAX:
        raise Unsupported(
            "a softmax of int8 has steps of 1/256, too few for results over {} columns: use float32".format(columns)
        )


def refuse(*arrays):
    raise ValueError("no model yet")


def kinds_of(arrays):
    return [(array.shape, array.dtype) for array in arrays]


def places(details, tensors):
    """Return the numbers of a model's tensors in the order of the graph's."""
    found = {entry["name"]: entry["index"] for entry in details}
    return [found[tensor.name.split(":")[0]] for tensor in tensors]
