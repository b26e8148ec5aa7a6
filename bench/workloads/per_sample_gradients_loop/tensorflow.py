"""Implements per-sample-gradients-loop in TensorFlow: tf.map_fn of a GradientTape, one row at a time."""

from __future__ import annotations

import functools

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.programs import DIFFERENTIATED
from ..per_sample_gradients.tensorflow import differentiate


def build(size, parameters, batch, transform):
    # By default a graph may compute ten rows side by side.
    signature = dict.fromkeys(parameters, batch[0].dtype)
    each = functools.partial(tf.map_fn, parallel_iterations=1, fn_output_signature=signature)
    return inference(functools.partial(differentiate, each=each), parameters, transform, not_frozen=DIFFERENTIATED)
