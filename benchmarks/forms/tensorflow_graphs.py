"""Forms of graphs in TensorFlow: the GELU, tables that are gathered from, sums of rows, sparse updates, executors."""

from __future__ import annotations

import tensorflow as tf

from bench.frameworks.tensorflow import optimizers, programs
from bench.program import Program
from bench.workloads.embedding_bag import tensorflow as bag
from bench.workloads.resnet18 import tensorflow as resnet18

ENCODER = "bench.workloads.transformer_encoder.tensorflow:"
DECODE = "bench.workloads.kv_decode.tensorflow:"
present_naming, present_with_kernels = programs.naming_once, optimizers.with_kernels


def with_kernels(variables, settings):
    """Descend in the rows alone that have a gradient."""
    made = present_with_kernels(variables, settings)
    if settings["name"] != "sgd" or settings.get("momentum"):
        return made
    rate = settings["learning_rate"]

    def descend(gradients):
        for variable, gradient in zip(variables, gradients, strict=True):
            if isinstance(gradient, tf.IndexedSlices):
                variable.scatter_sub(tf.IndexedSlices(rate * gradient.values, gradient.indices))
            else:
                tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)

    return made._replace(apply=descend)


def naming_once(function, transform, in_force):
    """Run graphs in the thread that calls them."""
    made = present_naming(function, transform, in_force)

    def run(batches):
        with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
            return made.run(batches)

    return Program(lambda *batch: run((batch,)), run=run)


FORMS = {
    "tf.nn.gelu": {ENCODER + "gelu": tf.nn.gelu, DECODE + "gelu": tf.nn.gelu},
    "table read by each token": {DECODE + "with_table_read": lambda variables: variables},
    "gathered": {"bench.workloads.embedding_bag.tensorflow:add_segments": bag.add_gathered},
    "segments": {"bench.workloads.embedding_bag.tensorflow:add_gathered": bag.add_segments},
    "by kernel": {"bench.workloads.resnet18.tensorflow:by_factor": resnet18.by_kernel},
    "sparse update": {"bench.frameworks.tensorflow.optimizers:with_kernels": with_kernels},
    "one executor": {"bench.frameworks.tensorflow.programs:naming_once": naming_once},
}
