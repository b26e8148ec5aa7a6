"""Makes pipelines of the stored digits with Grain, as its guide and its README do.

They get the order and what to mirror, as ours does, and are made once for each number of batches.
"""

from __future__ import annotations

import functools

import jax
import numpy as np
from stored import Order

from bench.workloads.lenet_train import SIDE

try:
    import grain
except ImportError:
    grain = None


def pipelines(batch, finish=None):
    """Return ``{name: function}``, empty without Grain; ``function(count)`` makes the pipeline of as many batches.

    The guide has threads read ahead; "not threaded" has none, as ours has none beside a single thread. ``finish`` gets
    the data set, in place of what puts its batches on the device.
    """
    if grain is None:
        return {}
    order = [np.asarray(array) for array in batch]
    alone = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)
    finish = finish or Placed
    return {
        "Grain, examples": functools.partial(of_examples, order, None, finish),
        "Grain, examples, not threaded": functools.partial(of_examples, order, alone, finish),
        "Grain, batches": functools.partial(of_batches, order, None, finish),
        "Grain, batches, not threaded": functools.partial(of_batches, order, alone, finish),
    }


def of_examples(order, options, finish, count):
    digits = Order(order, (SIDE, SIDE, 1), count)
    dataset = grain.MapDataset.range(len(digits)).map(digits.example).batch(len(order[0]))
    return finish(dataset.to_iter_dataset(options))


def of_batches(order, options, finish, count):
    digits, each = Order(order, (SIDE, SIDE, 1), count), len(order[0])
    dataset = grain.MapDataset.range(count)
    dataset = dataset.map(lambda index: digits.arrays(slice(index * each, (index + 1) * each)))
    return finish(dataset.to_iter_dataset(options))


class Placed:
    """Puts each batch on the device."""

    def __init__(self, dataset):
        self._dataset = dataset

    def __iter__(self):
        return map(jax.device_put, iter(self._dataset))
