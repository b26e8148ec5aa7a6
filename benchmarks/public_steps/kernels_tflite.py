"""Makes runs of TensorFlow's functions and Keras' layers, converted to models of TensorFlow Lite."""

from __future__ import annotations

import kernels_tensorflow
import tensorflow as tf
from kernels_tensorflow import SEGMENTS, looped
from with_tflite import converted, invoked

#: Every kernel has the layout of the specification.
OUTPUTS = {}
FUNCTIONS = {
    name: kernels_tensorflow.FUNCTIONS[name]
    for name in ("embedding-bag", "scatter-add", "batched-gemm", "conv2d", "conv2d-depthwise")
}


def runs(workload, size, mode, batch, parameters):
    """Return ``{name: run}``, where ``run(batches)`` does a step for each batch; empty where there are none."""
    own = FUNCTIONS[workload](size, parameters) if workload in FUNCTIONS else {}
    return {name: looped(made(function, mode, batch)) for name, function in own.items() if name != SEGMENTS}


def made(function, mode, batch):
    """Convert a function, whose placeholders have the order of the batch, as the converter's guide does."""
    specifications = [tf.TensorSpec(array.shape, array.dtype) for array in batch]
    concrete = tf.function(function).get_concrete_function(*specifications)
    return invoked(converted(tf.lite.TFLiteConverter.from_concrete_functions([concrete]), mode, batch))
