"""Makes loaders of the stored digits as PyTorch's tutorial of data sets and the documentation of DataLoader do.

They get the order and what to mirror, as ours does, and are made once for each number of batches. On one thread they
have no worker processes, as ours has none.
"""

from __future__ import annotations

import functools
import zlib

import torch
from stored import CHANNELS_FIRST, Order
from torch.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler

from bench.workloads.lenet_input import DEVIATION, MEAN
from bench.workloads.lenet_train import SIDE


def pipelines(batch, shape=CHANNELS_FIRST):
    """Return ``{name: function}``; ``function(count)`` makes the loader of as many batches.

    The tutorial loads examples, which the loader joins; the documentation has a data set that is given the indices of
    a batch, too ("disable automatic batching").
    """
    order = [array.numpy() for array in batch]
    return {
        "DataLoader": functools.partial(of_examples, order, shape),
        "DataLoader, batches": functools.partial(of_batches, order, shape),
    }


class Digits(Order, Dataset):
    """The examples of an epoch, in its order."""

    def __getitem__(self, index):
        row = self.rows[index]
        image = torch.frombuffer(bytearray(zlib.decompress(self.records[row])), dtype=torch.uint8).view(SIDE, SIDE)
        image = image.flip(1) if self.mirrored[index] else image
        return ((image.float() / 255 - MEAN) / DEVIATION).view(self.shape), int(self.labels[row])


class Batches(Order, Dataset):
    """The same, whose item is a batch."""

    def __getitem__(self, indices):
        images, labels = self.arrays(indices)
        return torch.from_numpy(images), torch.from_numpy(labels)


def of_examples(order, shape, count):
    return DataLoader(Digits(order, shape, count), batch_size=len(order[0]))


def of_batches(order, shape, count):
    dataset = Batches(order, shape, count)
    sampler = BatchSampler(SequentialSampler(dataset), len(order[0]), drop_last=False)
    return DataLoader(dataset, sampler=sampler, batch_size=None)
