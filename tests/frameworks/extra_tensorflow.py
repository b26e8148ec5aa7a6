"""Runs inside a TensorFlow environment: the optimizers, and the logic of a GPU that is not there."""

from __future__ import annotations

import os
from unittest import mock

import numpy as np
import tensorflow as tf

from bench.frameworks.tensorflow import gpu as gpu
from bench.frameworks.tensorflow.adapter import Adapter, variable_training
from bench.program import Transform

OPTIMIZERS = (
    {"name": "sgd", "learning_rate": 0.05, "momentum": 0.9},
    {"name": "adam", "learning_rate": 1e-2, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
)


def examine(mode):
    return {
        "limit": limit(),
        "settings": [read({}), read({"TF_CUDNN_USE_AUTOTUNE": "0", "TF_GPU_ALLOCATOR": "x"})],
        "losses": {settings["name"]: losses(mode, settings) for settings in OPTIMIZERS},
    }


def losses(mode, settings):
    """Train three times for three steps, from a reset, from another and onward; return the losses of each."""

    def loss(variables, inputs):
        return tf.reduce_mean(tf.square(tf.linalg.matvec(inputs, variables["weight"]) - 1.0))

    adapter = Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
    inputs = adapter.put(np.random.RandomState(0).standard_normal((8, 4)))
    parameters = {"weight": adapter.put(np.ones(4))}
    program = variable_training(loss, parameters, Transform(mode, adapter.transform, "step"), settings)
    found = []
    for begin in (program.reset, program.reset, lambda: None):
        begin()
        found.append([float(program.step(inputs)["loss"]) for _ in range(3)])
    return found


def limit():
    """Limit a GPU to 2 GiB; return what TensorFlow is asked for, in order."""
    asked = []
    with (
        mock.patch.object(
            tf.config.experimental, "set_memory_growth", lambda device, enable: asked.append(["growth", device, enable])
        ),
        mock.patch.object(
            tf.config,
            "set_logical_device_configuration",
            lambda device, sizes: asked.append(["devices", device, [size.memory_limit for size in sizes]]),
        ),
    ):
        gpu.limit("a GPU", 2 << 30)
    return asked


def read(variables):
    with (
        mock.patch.dict(os.environ, variables),
        mock.patch.object(tf.config.experimental, "get_memory_growth", return_value=True),
    ):
        return gpu.settings("a GPU")
