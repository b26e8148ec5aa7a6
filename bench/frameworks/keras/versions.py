"""Gives Keras 2 and Keras 3 the same names. Keras 2 computes with TensorFlow only."""

from __future__ import annotations

from types import SimpleNamespace

import keras

#: Whether this is Keras 3.
THREE = hasattr(keras, "ops")
#: The defaults of types and layouts.
config = keras.config if THREE else keras.backend
BACKEND = config.backend()
#: Sets the types in which layers compute and hold their weights.
set_policy = config.set_dtype_policy if THREE else keras.mixed_precision.set_global_policy

if THREE:
    from keras import ops, optimizers
else:
    import tensorflow as tf

    # Until 2.13, ``keras`` itself has the older classes under these names, tf.keras those that users get.
    optimizers = tf.keras.optimizers
    ops = SimpleNamespace(
        cast=tf.cast, power=tf.pow, sqrt=tf.sqrt, copy=tf.identity, matmul=tf.matmul,
        convert_to_tensor=tf.convert_to_tensor, unstack=tf.unstack,
    )  # fmt: skip
