"""Implements conv2d-nchw in TensorFlow: tf.nn.conv2d in NCHW, which oneDNN and XLA compute on a processor."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import WHOLE
from ...program import Unsupported


def convolve(variables, images):
    return {
        "convolved": tf.nn.conv2d(images, variables["weight"], strides=1, padding="SAME", data_format="NCHW"),
    }


def verify(images, weight):
    """Raise Unsupported where TensorFlow has no kernel for NCHW, as on a processor without oneDNN."""
    try:
        convolve({"weight": weight}, images)
    except (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError) as error:
        raise Unsupported(
            "tensorflow {} has no convolution in NCHW here ({}): see conv2d".format(
                tf.__version__, error.message.partition("[Op")[0].rpartition("}} ")[2].strip(" .")
            )
        ) from error


def build(size, parameters, batch, transform):
    # XLA has a convolution of its own.
    if transform.mode not in WHOLE:
        verify(batch[0][:1], parameters["weight"])
    return inference(convolve, parameters, transform, layout="NCHW")
