"""Forms of the LSTM in TensorFlow: unrolled or not; a gradient of our own; its fused kernel for a processor."""

from __future__ import annotations

import functools

import tensorflow as tf

from bench.workloads.lstm_lm_train import tensorflow as present

MODULE = "bench.workloads.lstm_lm_train.tensorflow:"


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


@tf.custom_gradient
def recur_projected(projected, recurrent):
    """Map projected inputs (sequence, batch, 4 · width) to hidden states; the gradient has a single product of weights.

    A tape multiplies in each step, and adds up the products. In a tf.function a step of training took 1.15 times as
    long with it in size small. With XLA ``scan`` is faster. Op by op it takes less time than this: 0.94 of it in small,
    0.77 in tiny.
    """
    cell = hidden = tf.zeros_like(projected[0, :, : recurrent.shape[0]])
    states, kept = [], []
    for gates in tf.unstack(projected):
        entered, passed, new, shown = tf.split(gates + tf.matmul(hidden, recurrent), 4, axis=-1)
        entered, passed, new, shown = tf.sigmoid(entered), tf.sigmoid(passed), tf.tanh(new), tf.sigmoid(shown)
        before, cell = (cell, hidden), passed * cell + entered * new
        kept.append((entered, passed, new, shown, tf.tanh(cell), *before))
        hidden = shown * kept[-1][4]
        states.append(hidden)
    return tf.stack(states), functools.partial(slopes_of, kept, recurrent)


def slopes_of(kept, recurrent, slopes):
    """Return the slopes of projected inputs and recurrent weights, from those of the hidden states."""
    of_cell = of_hidden = tf.zeros_like(kept[0][0])
    found = []
    for (entered, passed, new, shown, bent, cell, _), slope in zip(
        reversed(kept), reversed(tf.unstack(slopes)), strict=True
    ):
        of_hidden += slope
        of_cell += of_hidden * shown * (1 - bent * bent)
        of_gates = [
            of_cell * new * entered * (1 - entered), of_cell * cell * passed * (1 - passed),
            of_cell * entered * (1 - new * new), of_hidden * bent * shown * (1 - shown),
        ]  # fmt: skip
        found.append(tf.concat(of_gates, axis=-1))
        of_cell, of_hidden = of_cell * passed, tf.matmul(found[-1], recurrent, transpose_b=True)
    found.reverse()
    hidden = tf.concat([each[-1] for each in kept], axis=0)
    return tf.stack(found), tf.matmul(hidden, tf.concat(found, axis=0), transpose_a=True)


def one_product(inputs, weight, recurrent):
    """Do as the present form, with this gradient."""
    projected = tf.reshape(tf.matmul(tf.concat(inputs, axis=0), weight), (len(inputs), -1, weight.shape[1]))
    return tf.unstack(recur_projected(projected, tf.convert_to_tensor(recurrent)))


FORMS = {
    "unrolled": {MODULE + "scan": present.recur},
    "scan": {MODULE + "recur": present.scan},
    "one product": {MODULE + "recur": one_product, MODULE + "scan": one_product},
    # XLA has no kernel for it.
    "BlockLSTM": {MODULE + "recur": recur},
}
