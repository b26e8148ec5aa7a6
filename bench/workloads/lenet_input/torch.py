"""Implements lenet-input in PyTorch: a map-style Dataset, whose examples a DataLoader fetches a batch at a time.

The sampler gives lists of examples and there is no automatic batching, as PyTorch's documentation has it for data sets
that fetch batches: one call decodes the examples and normalises them together, without a tensor for each.
"""

from __future__ import annotations

import multiprocessing
import zlib

import torch
from torch.utils.data import DataLoader, Dataset

from ...frameworks.fed import fed, feeding
from ...frameworks.torch.adapter import module_training
from ..lenet_train import SIDE
from ..lenet_train.torch import LeNet, named_parameters, pooling, with_values
from . import DEVIATION, MEAN, OPTIMIZER, PREFETCHED, examples

#: Worker processes at most: beside a GPU, which leaves the processors to them; and beside steps on these processors.
MOST_WORKERS = {"cuda": 4, "cpu": 1}


class Digits(Dataset):
    """The compressed digits; ``self[rows, mirrored]`` is a batch."""

    def __init__(self):
        self.records, labels = examples()
        self.labels = torch.tensor(labels, dtype=torch.int64)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, chosen):
        rows, mirrored = chosen
        decoded = bytearray().join([zlib.decompress(self.records[row]) for row in rows])
        images = torch.frombuffer(decoded, dtype=torch.uint8).view(-1, SIDE, SIDE, 1)
        images = torch.where(torch.tensor(mirrored).bool().view(-1, 1, 1, 1), images.flip(2), images)
        return images.float().div_(255).sub_(MEAN).div_(DEVIATION), self.labels[rows]


class Pipeline:
    """A loader whose workers, if it has any, last from one run to the next."""

    def __init__(self, batch):
        self._device = device = batch[0].device
        self.workers = min(torch.get_num_threads() - 1, MOST_WORKERS[device.type])
        self._order = []
        options = {"persistent_workers": True, "prefetch_factor": PREFETCHED} if self.workers else {}
        before = set(multiprocessing.active_children())
        self._loader = DataLoader(
            Digits(), sampler=self._order, batch_size=None, num_workers=self.workers,
            pin_memory=device.type == "cuda", **options,
        )  # fmt: skip
        # An empty run starts the workers.
        self.processes = tuple(child.pid for _ in (list(self._loader),) for child in
                               set(multiprocessing.active_children()) - before)  # fmt: skip

    def settings(self):
        return {"pipeline": "DataLoader", "pipeline workers": self.workers}

    def counted(self, batches):
        """Return the loader with the order of a run; it has a length."""
        rows, mirrored = (torch.stack(arrays).tolist() for arrays in zip(*batches))
        self._order[:] = zip(rows, mirrored)
        return self._loader

    def __call__(self, batches):
        for images, labels in self.counted(batches):
            yield images.to(self._device, non_blocking=True), labels.to(self._device, non_blocking=True)

    def close(self):
        """End the workers, which a loader does when it is deleted."""
        self._loader = None


def build(size, parameters, batch, transform):
    pipeline = Pipeline(batch)
    transform = feeding(transform, pipeline.settings())
    images = next(pipeline([batch]))[0]
    module = with_values(LeNet(pooling(transform, images.device)), parameters, images)
    program = module_training(module, transform, OPTIMIZER, lambda: named_parameters(module))
    return fed(program, pipeline, close=pipeline.close, processes=pipeline.processes)
