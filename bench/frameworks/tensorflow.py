"""Adapts TensorFlow 2.x: placing arrays, synchronising, the execution modes and the settings in force."""

from __future__ import annotations

import os

import numpy as np
import tensorflow as tf

from ..program import Program, Unsupported


class Adapter:
    """TensorFlow on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        gpus = tf.config.list_physical_devices("GPU")
        if device == "gpu" and not gpus:
            raise Unsupported("tensorflow {} sees no GPU".format(tf.__version__))
        if device == "cpu" and gpus:
            tf.config.set_visible_devices([], "GPU")
        for gpu in gpus if device == "gpu" else ():
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        # One queue of operations, as in the other frameworks; parallelism is inside the operations.
        tf.config.threading.set_inter_op_parallelism_threads(1)
        # TensorFlow has TF32 on unless told otherwise.
        tf.config.experimental.enable_tensor_float_32_execution(False)
        self.mode = mode
        self.device = "/GPU:0" if device == "gpu" else "/CPU:0"
        self.dtype = tf.as_dtype(precision)

    def put(self, array):
        array = np.asarray(array)
        with tf.device(self.device):
            return tf.constant(array, dtype=self.dtype if array.dtype.kind == "f" else None)

    def get(self, value):
        value = tf.convert_to_tensor(value)
        return (tf.cast(value, tf.float64) if value.dtype.is_floating else value).numpy()

    def synchronize(self, outputs):
        if self.device == "/GPU:0":
            tf.test.experimental.sync_devices()

    def transform(self, function, training=False):
        if self.mode == "eager":
            return function
        return tf.function(function, jit_compile=self.mode == "xla")

    def settings(self):
        return {
            "threads": tf.config.threading.get_intra_op_parallelism_threads(),
            "interop threads": tf.config.threading.get_inter_op_parallelism_threads(),
            "TF32": tf.config.experimental.tensor_float_32_execution_enabled(),
            "oneDNN": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
            "XLA flags": os.environ.get("XLA_FLAGS", ""),
        }

    def versions(self):
        return {"tensorflow": tf.__version__}

    def memory(self):
        if self.device != "/GPU:0":
            return {}
        return {"allocated_peak_bytes": tf.config.experimental.get_memory_info("GPU:0")["peak"]}


def inference(function, parameters, transform):
    """Make the program of ``function(variables, *batch) -> {name: tensor}``; parameters are variables."""
    variables = {name: tf.Variable(value, trainable=False, name=name) for name, value in parameters.items()}
    transformed = transform(lambda *batch: function(variables, *batch))
    return Program(lambda *batch: transformed(*batch))


def make_optimizer(variables, settings):
    """Return ``(apply(gradients), state variables)`` for a specification's ``OPTIMIZER``.

    The fused training kernels are used, as tf.keras did before version 3; Keras 3 composes the update of small
    operations.
    """
    rate = settings["learning_rate"]
    names = list(variables)
    if settings["name"] == "sgd" and not settings.get("momentum"):

        def descend(gradients):
            for name, gradient in zip(names, gradients):
                tf.raw_ops.ResourceApplyGradientDescent(var=variables[name].handle, alpha=rate, delta=gradient)

        return descend, []
    first = [tf.Variable(tf.zeros_like(variables[name]), trainable=False) for name in names]
    if settings["name"] == "sgd":

        def accelerate(gradients):
            for name, accumulated, gradient in zip(names, first, gradients):
                tf.raw_ops.ResourceApplyMomentum(
                    var=variables[name].handle,
                    accum=accumulated.handle,
                    lr=rate,
                    grad=gradient,
                    momentum=settings["momentum"],
                )

        return accelerate, first
    if settings["name"] == "adam":
        second = [tf.Variable(tf.zeros_like(variables[name]), trainable=False) for name in names]
        count = tf.Variable(0.0, trainable=False)

        def adapt(gradients):
            count.assign_add(1.0)
            power1, power2 = tf.pow(settings["beta1"], count), tf.pow(settings["beta2"], count)
            # The kernel adds epsilon before the bias correction (Kingma & Ba, end of section 2), the others after it.
            epsilon = settings["epsilon"] * tf.sqrt(1.0 - power2)
            for name, mean, variance, gradient in zip(names, first, second, gradients):
                tf.raw_ops.ResourceApplyAdam(
                    var=variables[name].handle, m=mean.handle, v=variance.handle, beta1_power=power1,
                    beta2_power=power2, lr=rate, beta1=settings["beta1"], beta2=settings["beta2"], epsilon=epsilon,
                    grad=gradient,
                )  # fmt: skip

        return adapt, [*first, *second, count]
    raise ValueError("unknown optimizer {!r}".format(settings["name"]))


def variable_training(loss, parameters, transform, settings):
    """Make the program that trains ``parameters`` on ``loss(variables, *batch)``.

    The whole step (forward, backward, optimizer) runs in the cell's mode, as a custom training loop does it.
    """
    variables = {name: tf.Variable(value, name=name) for name, value in parameters.items()}
    apply, state = make_optimizer(variables, settings)
    trained = list(variables.values())

    def update(*batch):
        with tf.GradientTape() as tape:
            value = loss(variables, *batch)
        apply(tape.gradient(value, trained))
        return value

    transformed = transform(update, training=True)

    def step(*batch):
        return {"loss": transformed(*batch)}

    def reset():
        for name, variable in variables.items():
            variable.assign(parameters[name])
        for variable in state:
            variable.assign(tf.zeros_like(variable))

    return Program(step, lambda: variables, reset)
