"""Makes tf.data pipelines of the stored digits, as TensorFlow's guide to their performance and Keras' examples do.

They get the order and what to mirror, as ours does, and are made once for each number of batches.
"""

from __future__ import annotations

import functools

import tensorflow as tf

from bench.workloads.lenet_input import DEVIATION, MEAN, examples
from bench.workloads.lenet_train import SIDE


def pipelines(batch):
    """Return ``{name: function}``; ``function(count)`` makes the data set of as many batches.

    The guide maps batches in place of examples ("vectorizing"), and leaves the numbers of calls and batches to
    ``AUTOTUNE``.
    """
    order = tuple(array.numpy() for array in batch)
    tuned = {"num_parallel_calls": tf.data.AUTOTUNE}
    return {
        "tf.data, examples": functools.partial(of_examples, order, tuned),
        "tf.data, batches": functools.partial(of_batches, order, tuned),
        "tf.data, batches, not tuned": functools.partial(of_batches, order, {}),
    }


def ordered(order, count):
    return tf.data.Dataset.from_tensor_slices(tuple(tf.tile(array, [count]) for array in order))


def of_examples(order, tuned, count):
    dataset = ordered(order, count).map(decoding(()), **tuned)
    return dataset.batch(len(order[0])).prefetch(tf.data.AUTOTUNE)


def of_batches(order, tuned, count):
    each = len(order[0])
    dataset = ordered(order, count).batch(each).map(decoding((each,)), **tuned)
    return dataset.prefetch(tf.data.AUTOTUNE if tuned else 1)


def decoding(shape):
    """Return a function of rows and flags of that shape, which makes images and labels."""
    records, labels = (tf.constant(values) for values in examples())

    def decode(rows, mirrored):
        stored = tf.io.decode_compressed(tf.gather(records, rows), "ZLIB")
        images = tf.reshape(tf.io.decode_raw(stored, tf.uint8), (*shape, SIDE, SIDE, 1))
        flipped = tf.reshape(mirrored, (*shape, 1, 1, 1)) > 0
        images = tf.where(flipped, tf.reverse(images, [len(shape) + 1]), images)
        return (tf.cast(images, tf.float32) / 255.0 - MEAN) / DEVIATION, tf.gather(labels, rows)

    return decode
