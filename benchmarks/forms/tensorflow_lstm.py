"""Forms of the LSTM in TensorFlow: its fused kernels for a processor, which XLA lacks."""

from __future__ import annotations

import tensorflow as tf

RECUR = "bench.workloads.lstm_lm_train.tensorflow:recur"


def fused(kernel, order, **options):
    """Return ``recur`` with a fused kernel whose gates have this order among input, forget, cell and output."""

    def recur(inputs, weight, recurrent):
        batch, width = inputs[0].shape
        parts = tf.split(tf.concat([weight, recurrent], axis=0), 4, axis=1)
        zeros, none = tf.zeros((batch, width)), tf.zeros((width,))
        found = kernel(
            seq_len_max=tf.constant(len(inputs), tf.int64),
            x=tf.stack(inputs),
            cs_prev=zeros,
            h_prev=zeros,
            w=tf.concat([parts[index] for index in order], axis=1),
            wci=none,
            wcf=none,
            wco=none,
            b=tf.zeros((4 * width,)),
            use_peephole=False,
            **options,
        )
        return tf.unstack(found.h)

    return recur


FORMS = {
    "BlockLSTM": {RECUR: fused(tf.raw_ops.BlockLSTM, (0, 2, 1, 3), forget_bias=0.0, cell_clip=-1.0)},
    "BlockLSTMV2": {RECUR: fused(tf.raw_ops.BlockLSTMV2, (0, 1, 2, 3), cell_clip=-1.0)},
}
