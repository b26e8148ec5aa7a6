"""Forms of the LSTM in TensorFlow: its fused kernel for a processor, which XLA lacks."""

from __future__ import annotations

import tensorflow as tf

RECUR = "bench.workloads.lstm_lm_train.tensorflow:recur"


def recur(inputs, weight, recurrent):
    """Map the inputs of each step with the fused kernel, whose gates are ordered input, cell, forget, output."""
    batch, width = inputs[0].shape
    entered, kept, new, shown = tf.split(tf.concat([weight, recurrent], axis=0), 4, axis=1)
    zeros, none = tf.zeros((batch, width)), tf.zeros((width,))
    found = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(len(inputs), tf.int64),
        x=tf.stack(inputs),
        cs_prev=zeros,
        h_prev=zeros,
        w=tf.concat([entered, new, kept, shown], axis=1),
        wci=none,
        wcf=none,
        wco=none,
        b=tf.zeros((4 * width,)),
        use_peephole=False,
        forget_bias=0.0,
        cell_clip=-1.0,
    )
    return tf.unstack(found.h)


FORMS = {"BlockLSTM": {RECUR: recur}}
