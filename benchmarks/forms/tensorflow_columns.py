"""Forms of turbulent-kinetic-energy in TensorFlow: functions of tf alone, and concatenations that XLA keeps apart."""

from __future__ import annotations

import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from bench.workloads.turbulent_kinetic_energy import tensorflow as present

MODULE = "bench.workloads.turbulent_kinetic_energy.tensorflow:"


def apart(arrays, axis):
    """Concatenate; TensorFlow's API has no public name for the barrier."""
    return xla.optimization_barrier(tf.concat(arrays, axis))[0]


FORMS = {
    "functions of tf": {MODULE + "COMPILED": present.OPERATIONS},
    "levels concatenated": {MODULE + "COMPILED": present.COMPILED._replace(framed=None)},
    "levels stacked": {MODULE + "COMPILED": present.COMPILED._replace(stack=tf.stack)},
    "apart": {MODULE + "COMPILED": present.OPERATIONS._replace(concatenate=apart, stack=present.stack)},
    "as with XLA": {MODULE + "OPERATIONS": present.COMPILED},
}
