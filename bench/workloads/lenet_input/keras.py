"""Implements lenet-input in Keras: ``fit`` takes the pipeline of its backend, ``train_on_batch`` a batch of it.

JAX has no pipeline, so there it is a PyDataset, Keras' own, which needs no other package.
"""

from __future__ import annotations

import importlib

import keras
import numpy as np

from ...frameworks import loaded
from ...frameworks.fed import fed, feeding
from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import BACKEND
from ..lenet_train import SIDE
from ..lenet_train.keras import layout, network
from . import OPTIMIZER, PREFETCHED
from .numpy import decoded


class Batches(getattr(keras.utils, "PyDataset", object)):
    """The batches of a run in its order; Keras 2, which has no JAX, has no such class."""

    def __init__(self, batches, **options):
        super().__init__(**options)
        self._batches = [[np.asarray(array) for array in batch] for batch in batches]

    def __len__(self):
        return len(self._batches)

    def __getitem__(self, index):
        return decoded(*self._batches[index])


class Pipeline:
    """Decodes batches in threads of Keras' where the cell has more threads than one."""

    def __init__(self, batch):
        # Keras starts no thread for a single worker.
        self._workers = len(loaded.processors())

    def settings(self):
        return {"pipeline": "PyDataset", "pipeline workers": self._workers if self._workers > 1 else 0}

    def counted(self, batches):
        """Return the data set of a run; it has a length."""
        return Batches(batches, workers=self._workers, max_queue_size=PREFETCHED * self._workers)

    def __call__(self, batches):
        dataset = self.counted(batches)
        return (dataset[index] for index in range(len(dataset)))


def build(size, parameters, batch, transform):
    pipelines = Pipeline if BACKEND == "jax" else importlib.import_module("." + BACKEND, __package__).Pipeline
    pipeline = pipelines(batch)

    def feed(batches):
        return {"x": pipeline.counted(batches)}

    model = network(SIDE, (6, 16), (120, 84), 10)
    program = training(
        model, parameters, feeding(transform, pipeline.settings()), OPTIMIZER, layout=layout(), feed=feed
    )
    ends = {"close": pipeline.close, "processes": pipeline.processes} if BACKEND == "torch" else {}
    return program._replace(**ends) if transform.mode.startswith("fit") else fed(program, pipeline, **ends)
