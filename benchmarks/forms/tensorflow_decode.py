"""Forms of kv-decode in TensorFlow: the axes of the caches, and how a token's keys and values are written there."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads.kv_decode import tensorflow as present

MODULE = "bench.workloads.kv_decode.tensorflow:"


def heads_first(size, dtype):
    """Return keys and values apart, (batch, heads, sequence, head width), whatever the number of sequences."""
    width = size["width"] // size["heads"]
    return (tf.zeros((size["batch"], size["heads"], size["sequence"], width), dtype),) * 2


def write_heads_first(size, cache, keys, values, positions):
    return present_write({**size, "batch": 2}, cache, keys, values, positions)


def write_slice(size, cache, keys, values, positions):
    """Write by XLA's update of a slice, into keys and values apart."""
    from tensorflow.compiler.tf2xla.python import xla

    start = tf.stack([0, 0, positions[0], 0])
    both = [
        xla.dynamic_update_slice(before, tf.transpose(new, (0, 2, 1, 3)), start)
        for before, new in zip(cache, (keys, values), strict=True)
    ]
    return (tuple(both), *both)


def write_in_place(size, cache, keys, values, positions):
    """Write into the tensor of the cache itself, where only one sequence is decoded."""
    if size["batch"] != 1:
        return present_write(size, cache, keys, values, positions)
    new = tf.transpose(tf.concat([keys, values], axis=-1), (1, 0, 2, 3))
    cache = tf.raw_ops.InplaceUpdate(x=cache, i=positions, v=new)
    return (cache, *tf.split(tf.transpose(cache, (1, 2, 0, 3)), 2, axis=-1))


def write_scattered(size, cache, keys, values, positions):
    """Write one row of keys and values apart, whose first axis is that of positions."""
    index = positions[:, None]
    both = [
        tf.tensor_scatter_nd_update(before, index, tf.transpose(new, (1, 0, 2, 3)))
        for before, new in zip(cache, (keys, values), strict=True)
    ]
    return (tuple(both), *(tf.transpose(each, (1, 2, 0, 3)) for each in both))


def positions_first(size, dtype):
    width = size["width"] // size["heads"]
    return (tf.zeros((size["sequence"], size["batch"], size["heads"], width), dtype),) * 2


def positions_first_together(size, dtype):
    """Return keys and then values in one tensor, whose first axis is that of positions, for several sequences, too."""
    width = size["width"] // size["heads"]
    return tf.zeros((size["sequence"], size["batch"], size["heads"], 2 * width), dtype)


def write_together(size, cache, keys, values, positions):
    return present_write({**size, "batch": 1}, cache, keys, values, positions)


present_write = present.write
FORMS = {
    "heads first": {MODULE + "empty_cache": heads_first, MODULE + "write": write_heads_first},
    "positions first": {MODULE + "empty_cache": positions_first_together, MODULE + "write": write_together},
    "slice": {MODULE + "empty_cache": heads_first, MODULE + "write": write_slice},
    "in place": {MODULE + "write": write_in_place},
    "scattered apart": {MODULE + "empty_cache": positions_first, MODULE + "write": write_scattered},
}
