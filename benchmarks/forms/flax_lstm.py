"""Forms of the LSTM language model in Flax: two axes for products, weights that no loop carries, unrolled loops."""

from __future__ import annotations

import functools
from unittest import mock

from flax import linen, nnx

MODULE = "bench.workloads.lstm_lm_train.flax:"


def with_rnn(module, **options):
    return mock.Mock(wraps=module, RNN=functools.partial(module.RNN, **options))


FORMS = {
    "two axes": {MODULE + "flat": lambda layer, inputs: layer(inputs)},
    "weights not carried": {MODULE + "nnx": with_rnn(nnx, state_axes=nnx.StateAxes({...: None}))},
    "unroll 4": {MODULE + "nnx": with_rnn(nnx, unroll=4), MODULE + "linen": with_rnn(linen, unroll=4)},
}
