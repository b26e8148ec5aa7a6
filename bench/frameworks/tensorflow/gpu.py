"""Reads TensorFlow's settings on a GPU and limits its memory there."""

from __future__ import annotations

import os

import tensorflow as tf

MEBIBYTE = 1 << 20


def settings(gpu):
    """Read back what is in force on a GPU; the variables are those that TensorFlow reads itself."""
    tuning = os.environ.get("TF_CUDNN_USE_AUTOTUNE", "1").lower() not in ("0", "false")
    found = {"cuDNN autotuning": tuning, "allocator": allocator(gpu)}
    deterministic = determinism()
    if deterministic is not None:
        found["cuDNN deterministic"] = deterministic
    return found


def allocator(gpu):
    name = os.environ.get("TF_GPU_ALLOCATOR", "")
    if name:
        return name
    return "bfc, growing" if tf.config.experimental.get_memory_growth(gpu) else "bfc, preallocated"


def determinism():
    """Say whether operations are deterministic; None where TensorFlow does not report it."""
    try:
        from tensorflow.python.framework import config
    except ImportError:
        return None
    enabled = getattr(config, "is_op_determinism_enabled", None)
    return bool(enabled()) if enabled else None


def capability(gpu):
    """Return the compute capability of an NVIDIA GPU; None for another one."""
    return tf.config.experimental.get_device_details(gpu).get("compute_capability")


def limit(gpu, limit_bytes):
    """Make a logical device of this size stand for the GPU; before TensorFlow touches it.

    Such a device does not grow: its memory is taken at once.
    """
    tf.config.experimental.set_memory_growth(gpu, False)
    sized = tf.config.LogicalDeviceConfiguration(memory_limit=max(1, limit_bytes // MEBIBYTE))
    tf.config.set_logical_device_configuration(gpu, [sized])
