"""Runs inside a TensorFlow environment: the logic of a GPU that is not there."""

from __future__ import annotations

import os
from unittest import mock

import tensorflow as tf

from bench.frameworks.tensorflow import gpu as gpu


def examine(mode):
    return {"limit": limit(), "settings": [read({}), read({"TF_CUDNN_USE_AUTOTUNE": "0", "TF_GPU_ALLOCATOR": "x"})]}


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
