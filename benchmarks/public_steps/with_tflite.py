"""Makes steps of Keras models that TensorFlow's converter makes models of TensorFlow Lite, as the guide of LiteRT does.

The interpreter gets a tensor, is invoked, and its output is copied, as in the guide's example in Python; or the model
is called by its signature, which the guide has, too.
"""

from __future__ import annotations

import os
import tempfile

import keras
import tensorflow as tf
import with_tensorflow as networks
from ai_edge_litert.interpreter import Interpreter

THREADS = int(os.environ["OMP_NUM_THREADS"])


def steps(workload, size, mode, batch):
    """Return ``{name: step}``; empty where there is none of the workload."""
    if workload != "transformer-encoder":
        return {}
    inputs = keras.Input(batch_shape=batch[0].shape)
    return inferring(keras.Model(inputs, networks.stack(size, inputs, causal=False)), mode, batch[0], "hidden")


def inferring(model, mode, given, output):
    """Convert a Keras model and return its two ways to be called with a batch that it has; their output has a name."""
    with tempfile.TemporaryDirectory() as folder:
        # From what Keras saves, as the guide recommends.
        model.export(folder, verbose=False, input_signature=[tf.TensorSpec(given.shape, given.dtype)])
        content = converted(tf.lite.TFLiteConverter.from_saved_model(folder), mode, (given,))
    signature = interpreter_of(content).get_signature_runner()
    (name,) = signature.get_input_details()

    def by_signature(*batch):
        return {output: next(iter(signature(**{name: given}).values()))}

    call = invoked(content)
    return {"tf.lite": lambda *batch: {output: call(given)}, "tf.lite, signature": by_signature}


def converted(converter, mode, batch):
    """Convert; with ``int8`` by integers, whose ranges are those of the batch."""
    if mode == "int8":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: [list(batch)]
    return converter.convert()


def interpreter_of(content):
    return Interpreter(model_content=content, num_threads=THREADS)


def invoked(content):
    """Return a function of a model's inputs, in the order of the model, that gives its output."""
    interpreter = interpreter_of(content)
    interpreter.allocate_tensors()
    places = [entry["index"] for entry in interpreter.get_input_details()]
    output = interpreter.get_output_details()[0]["index"]

    def call(*inputs):
        for place, array in zip(places, inputs, strict=True):
            interpreter.set_tensor(place, array)
        interpreter.invoke()
        return interpreter.get_tensor(output)

    return call
