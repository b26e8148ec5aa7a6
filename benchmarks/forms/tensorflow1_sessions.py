"""Forms of a session's call in TensorFlow 1.x: arrays that TensorFlow copies, and operations in the caller's thread."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from bench.frameworks.tensorflow1.adapter import ALIGNMENT

present = tf.ConfigProto


def misaligned(array):
    """Return a copy that begins at an odd multiple of half of the bytes that TensorFlow aligns to."""
    memory = np.empty(array.nbytes + 2 * ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT + ALIGNMENT // 2
    copy = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def in_caller(**options):
    return present(**{**options, "inter_op_parallelism_threads": -1})


FORMS = {
    "misaligned": {"bench.frameworks.tensorflow1.adapter:aligned": misaligned},
    "in the caller's thread": {f"{tf.__name__}:ConfigProto": in_caller},
}
